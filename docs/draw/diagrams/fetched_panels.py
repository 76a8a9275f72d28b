"""The streams of two GPUs in stage 13 of Cholesky: one GPU factorises a panel and the other GPU fetches the panel. Lengths
are not to scale."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE

TITLE = "Two GPUs that factorise panels alternately"
HEIGHT = {"wide": 232, "narrow": 232}
PANEL, FETCH, UPDATES = 2.0, 1.1, (5, 4.2, 3.4)  # lengths as drawn, not measured
LAST = 15.8
ALTERNATIVE = (
    "Timelines of two streams on each of two GPUs. In the urgent streams, the GPUs factorise panels alternately, "
    "and each fetches the panels of the other. In the patient streams, both subtract the products of each panel "
    "as soon as they have it.")
CAPTION = (
    "P0: GPU 0 factorises panel 0. F0: the other GPU fetches panel 0. P1 begins by subtracting the products of panel 0. U0: both GPUs "
    "subtract the products of panel 0 from their columns beyond panel 1. Not to scale; updates shrink from panel to panel.")


def scheme():
    """Stream, start, length and name of each step, computed from the waits of the program, and arrows from panels to
    their fetches."""
    urgent, patient, updated, known = [0, 0], [0, 0], [0, 0], []
    done, arrows = [], []
    for p in range(len(UPDATES) + 1):
        maker, other = p % 2, 1 - p % 2
        urgent = [max(now, *ends, *(known[p - 2] if p > 1 else ())) for now, *ends in zip(urgent, updated)]
        done.append((2 * maker, urgent[maker], PANEL, f"P{p}"))
        urgent[maker] += PANEL
        fetched = max(urgent[other], urgent[maker])
        arrows.append((maker, urgent[maker], fetched))
        done.append((2 * other, fetched, FETCH, f"F{p}"))
        urgent[other] = fetched + FETCH
        known.append(list(urgent))
        for g in range(2) if p else ():
            begin = max(patient[g], known[p - 1][g])
            done.append((2 * g + 1, begin, UPDATES[p - 1], f"U{p - 1}"))
            patient[g] = updated[g] = begin + UPDATES[p - 1]
    return done, arrows


def draw(canvas):
    """Draws the streams of GPU 0 above, the streams of GPU 1 below, and arrows between the urgent streams."""
    begin = 92 if canvas.is_wide else 62
    unit = (canvas.width - begin - 4) / LAST
    colours = {"P": ORANGE, "F": GREEN, "U": BLUE}
    done, arrows = scheme()
    tops = {0: 72, 1: 38, 2: 132, 3: 166}
    for stream, top in tops.items():
        parts = [(start, length, name, colours[name[0]]) for which, start, length, name in done if which == stream]
        canvas.lane(top, "patient" if stream % 2 else "urgent", begin, unit, *parts)
    canvas.text(0, 20, "GPU 0", ha="left", bold=True)
    canvas.text(0, 206, "GPU 1", ha="left", bold=True)
    for maker, end, fetched in arrows:
        y0, y1 = (97, 131) if maker == 0 else (131, 97)
        canvas.arrow((begin + unit * end - 4, y0), (begin + unit * fetched + 4, y1), PURPLE)
