"""The turns of a block in stages 15 and 16 of advection: rows that are waited for, and rows that come meanwhile."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "One place for eight rows, and three"
HEIGHT = {"wide": 312, "narrow": 312}
BEGIN, UNIT = {"wide": 74, "narrow": 50}, {"wide": 50, "narrow": 20}
PLACES, AHEAD, TURNS = 3, 2, 6
FETCH, SUM = 2, 2  # units of time that rows are under way and that they are summed up
END = FETCH + SUM * TURNS
ALTERNATIVE = (
    "Above, stage 15: one place, in which the rows of turn 0 are fetched, summed up, those of turn 1 fetched, summed up, and so on, "
    "with a barrier between each fetch and each sum. Below, stage 16: three places. Rows of turns 0 and 1 are fetched first. "
    "While turn 0 is summed up in place 0, those of turns 1 and 2 are under way to the other two; with each turn the roles move on by "
    "a place. One barrier in front of each turn goes through all three. While stage 15 does three turns, and fetches rows for a fourth, "
    "stage 16 does six.")
CAPTION = (
    "A block's march, to no scale; a number is the turn that eight rows are for. Behind a bar in 16, rows of the turn have arrived in "
    "one place, and the place of the turn before is free: copies for two turns later start there. A barrier in "
    "front of the march is left out.")


def draw(canvas):
    """Stage 15 above stage 16, at one scale."""
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

    one.text(0, 12, "15: fetch, then sum up", ha="left", bold=True)
    turn = FETCH + SUM
    fetches = [(turn * t, turn * t + FETCH, t, BLUE) for t in range(4)]
    place(one, 36, "place", fetches + [(turn * t + FETCH, turn * (t + 1), t, ORANGE) for t in range(4) if turn * t + FETCH < END])
    for when in range(FETCH, END, FETCH):
        barrier(one, when, 30, 68)
    three.text(0, 12, "16: fetch and sum up", ha="left", bold=True)
    for n in range(PLACES):
        parts = []
        for t in range(n, TURNS + AHEAD, PLACES):
            starts, due = max(FETCH + SUM * (t - AHEAD), 0), FETCH + SUM * t
            if starts < END:
                parts.append((starts, due, t, BLUE))
            if due < END:
                parts.append((due, due + SUM, t, ORANGE))
        place(three, 36 + 40 * n, f"place {n}" if canvas.is_wide else f"{n}", parts)
    for t in range(TURNS):
        barrier(three, FETCH + SUM * t, 30, 148)
    three.arrow((begin, 162), (begin + unit * END, 162), width=0.8)
    three.text(begin + unit * END / 2, 174, "time", SMALL)
    canvas.part(begin + 8 if canvas.is_wide else 8, 296).key(
        0, 0, (BLUE, 0.14, "rows under way"), (ORANGE, 0.4, "summed up"), (GREEN, 1, "barrier"))
