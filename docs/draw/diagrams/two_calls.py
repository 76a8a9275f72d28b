"""The rows that the two calls of MPI_Sendrecv transfer in stage 01 of advection on many processes."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Two calls fill both halos"
HEIGHT = {"wide": 318, "narrow": 652}
RANKS, ROWS, COLS = 3, 3, 8
CELL = 13
PITCH = CELL * (ROWS + 2) + 18  # pixels from rank to rank
ALTERNATIVE = (
    "Three ranks with three rows each between two halo rows, twice. In the first call, each top row goes up into "
    "the halo of the rank above. In the second call, each bottom row goes down into the halo of the rank below.")
CAPTION = (
    "Three ranks with three rows each; the ranks form a ring. In each call, every rank sends one row and receives one "
    "row, so no rank waits for another one that only sends.")


def rank_rows(canvas, sent, filled):
    """Draws a rank's rows with its halo rows, and marks the row that is sent, the row that arrives, and the row that
    has arrived before."""
    for i in range(ROWS + 2):
        for j in range(COLS + 2):
            is_halo, is_side = i in (0, ROWS + 1), j in (0, COLS + 1)
            colour, fill = (INK, 0) if is_halo else (BLUE, 0.12)
            if is_side:
                colour, fill = GREEN, 0.2
            elif i == sent:
                colour, fill = BLUE, 0.6
            elif i in filled:
                colour, fill = ORANGE, 0.5 if i == filled[0] else 0.15
            canvas.box(CELL * j, CELL * i, CELL - 2, CELL - 2, colour=colour, fill=fill, edge=0.4)


def draw_call(canvas, name, is_up):
    """Draws the rows of all ranks, and arrows to their destinations."""
    canvas.text(170, 12, name, bold=True)
    left, top, width = 86, 34, CELL * (COLS + 2)
    sent, filled = (1, (ROWS + 1,)) if is_up else (ROWS, (0, ROWS + 1))
    for rank in range(RANKS):
        y = top + PITCH * rank
        canvas.text(left - 10, y + PITCH / 2 - 9, f"rank {rank}", SMALL, ha="right")
        rank_rows(canvas.part(left, y), sent, filled)
        to = rank - 1 if is_up else rank + 1
        start, end = y + CELL * (sent + 0.5) - 1, top + PITCH * (to % RANKS) + CELL * (filled[0] + 0.5) - 1
        if 0 <= to < RANKS:
            canvas.arrow((left + width, start), (left + width, end), ORANGE, 1.4, bend=0.7 if is_up else -0.7)
        else:
            around = left + width + 50
            canvas.line((left + width, start), (around, start), (around, end), colour=ORANGE, width=1.4)
            canvas.arrow((around, end), (left + width, end), ORANGE, 1.4)


def draw(canvas):
    """Draws the two calls, and the meaning of the colours."""
    for panel, name, is_up in zip(canvas.panels(2), ("first call: top rows go up", "second call: bottom rows go down"), (True, False)):
        draw_call(panel, name, is_up)
    entries = (BLUE, 0.6, "is sent"), (ORANGE, 0.5, "arrives in the halo"), (GREEN, 0.2, "from the rank's own cells, later")
    if canvas.is_wide:
        canvas.part(138, 302).key(0, 0, *entries)
    else:
        canvas.part(70, 618).key(0, 0, *entries[:2])
        canvas.part(70, 640).key(0, 0, entries[2])
