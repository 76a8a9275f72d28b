"""The streams of two GPUs in stage 13 of Cholesky: panels that one of them makes and the other one fetches. No times: a scheme."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE

TITLE = "Two GPUs that make panels in turns"
HEIGHT = {"wide": 232, "narrow": 232}
PANEL, FETCH, UPDATES = 2.0, 1.1, (5, 4.2, 3.4)  # lengths, made up
LAST = 15.8
ALTERNATIVE = (
    "Timelines of two streams on each of two GPUs. GPU 0 makes panel 0 in its urgent stream; GPU 1 fetches it and makes panel 1, which "
    "GPU 0 fetches; then GPU 0 makes panel 2, and so on. Meanwhile, in the patient streams, both GPUs take the products of panel 0 off "
    "their columns, then those of panel 1, each as soon as it has the panel. Panel 2 begins when GPU 0 has taken the products of panel "
    "0 off.")
CAPTION = (
    "P0: a GPU makes panel 0; P1 begins with the products of panel 0. F0: the other GPU fetches it. U0: both take its products off what "
    "they have behind the next panel. To no scale; updates shrink from turn to turn.")


def scheme():
    """Stream, begin, length and name of all that is done, by the waits of the program, and arrows from panels to who fetches them."""
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
    """The streams of GPU 0 above, those of GPU 1 below, and arrows between the urgent ones."""
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
