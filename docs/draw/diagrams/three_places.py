"""The iterations of a thread block in stages 15 and 16 of advection: rows are fetched before the sums, or during the
sums."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "One buffer for eight rows, and three"
HEIGHT = {"wide": 312, "narrow": 312}
BEGIN, UNIT = {"wide": 74, "narrow": 50}, {"wide": 50, "narrow": 20}
PLACES, AHEAD, TURNS = 3, 2, 6
FETCH, SUM = 2, 2  # duration of fetching rows and of summing them, as drawn
END = FETCH + SUM * TURNS
ALTERNATIVE = (
    "Timelines of stages 15 and 16. With one buffer, rows are fetched and summed alternately. With three buffers, "
    "the rows of the next two iterations are in transit during the sums of an iteration, so stage 16 does six "
    "iterations while stage 15 does three.")
CAPTION = (
    "The iterations of a block, not to scale; a number is the index of the iteration that uses eight rows. After a barrier of stage "
    "16, the rows of the iteration have arrived in one buffer, and the buffer of the previous iteration is free: the copies "
    "for two iterations later start there. The barrier before the loop is left out.")


def draw(canvas):
    """Draws stage 15 above stage 16, with the same scale."""
    width = "wide" if canvas.is_wide else "narrow"
    begin, unit = BEGIN[width], UNIT[width]
    one, three = canvas.part(8, 0), canvas.part(8, 100)

    def place(here, y, name, parts):
        here.text(0, y + 13, name, SMALL, ha="left")
        for first, last, turn, colour in parts:
            x, length = begin + unit * first, unit * (min(last, END) - first)
            is_summed = colour == ORANGE
            here.box(x, y, length, 26, colour=colour, fill=0.4 if is_summed else 0.14, edge=0)
            for part in range(first, min(last, END), SUM):
                here.text(begin + unit * (part + SUM / 2), y + 13, f"{turn}", bold=is_summed)
        here.box(begin, y, unit * END, 26, edge=0.5)

    def barrier(here, when, top, bottom):
        here.line((begin + unit * when, top), (begin + unit * when, bottom), colour=GREEN, width=3)

    one.text(0, 12, "15: fetch, then sum", ha="left", bold=True)
    turn = FETCH + SUM
    fetches = [(turn * t, turn * t + FETCH, t, BLUE) for t in range(4)]
    place(one, 36, "buffer", fetches + [(turn * t + FETCH, turn * (t + 1), t, ORANGE) for t in range(4) if turn * t + FETCH < END])
    for when in range(FETCH, END, FETCH):
        barrier(one, when, 30, 68)
    three.text(0, 12, "16: fetch during the sums", ha="left", bold=True)
    for n in range(PLACES):
        parts = []
        for t in range(n, TURNS + AHEAD, PLACES):
            starts, due = max(FETCH + SUM * (t - AHEAD), 0), FETCH + SUM * t
            if starts < END:
                parts.append((starts, due, t, BLUE))
            if due < END:
                parts.append((due, due + SUM, t, ORANGE))
        place(three, 36 + 40 * n, f"buffer {n}" if canvas.is_wide else f"{n}", parts)
    for t in range(TURNS):
        barrier(three, FETCH + SUM * t, 30, 148)
    three.arrow((begin, 162), (begin + unit * END, 162), width=0.8)
    three.text(begin + unit * END / 2, 174, "time", SMALL)
    canvas.part(begin + 8 if canvas.is_wide else 8, 296).key(
        0, 0, (BLUE, 0.14, "rows in transit"), (ORANGE, 0.4, "summed"), (GREEN, 1, "barrier"))
