"""When a thread loads its rows and when it uses them, in stage 13 of advection and in stage 20."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Two rows ahead, and all eight"
HEIGHT = {"wide": 304, "narrow": 592}
ROWS, WAIT, LINE, UNIT = 8, 7, 23, 6.2  # rows of a block, how long a load is under way; pixels per row and unit of time
ALTERNATIVE = (
    "Two timelines of a thread, a line per row. Stage 13 starts loads of rows 1 and 2, waits, uses both, and only "
    "then starts loads of rows 3 and 4, and so on: four times it waits, and two loads are under way at a time. Stage "
    "20 starts all eight loads one after the other, waits once, and uses the rows in the same order; eight loads are "
    "under way at a time, and it ends in less than half the time.")
CAPTION = (
    "One thread on its way down eight rows, to no scale; the two rows that it loads before the loop are left out. "
    "Other warps load meanwhile, so the gain is far smaller than here, but more is asked for at a time.")


def draw_rows(canvas, name, ahead):
    """Loads and uses of each row, so many of them loaded before the first is used."""
    canvas.text(150, 12, name, bold=True)
    here, now = canvas.part(40, 50), 0
    for first in range(0, ROWS, ahead):
        begun = now
        for n in range(ahead):
            y = LINE * (first + n)
            used = begun + WAIT + n + 1
            here.box(UNIT * (begun + n), y, UNIT * (used - begun - n), LINE - 6, colour=BLUE, fill=0.16, edge=0.4)
            here.box(UNIT * (begun + n), y, UNIT, LINE - 6, colour=ORANGE, fill=0.5, edge=0.4)
            here.box(UNIT * used, y, UNIT, LINE - 6, colour=GREEN, fill=0.5, edge=0.4)
            now = used + 1
    for row in range(ROWS):
        here.text(-8, LINE * row + 8, f"row {row + 1}" if canvas.is_wide else f"{row + 1}", SMALL, ha="right")
    here.line((UNIT * now, -8), (UNIT * now, LINE * ROWS + 2), colour=INK, dashed=True)
    here.text(UNIT * now, -16, "done", SMALL)
    here.arrow((0, LINE * ROWS + 10), (UNIT * (4 * (WAIT + 3)), LINE * ROWS + 10), width=0.8)
    here.text(UNIT * 2 * (WAIT + 3), LINE * ROWS + 24, "time", SMALL)


def draw(canvas):
    """Two panels, and what colours mean."""
    for panel, name, ahead in zip(canvas.panels(2, 300), ("13: two rows at a time", "20: all rows first"), (2, ROWS)):
        draw_rows(panel.part(0 if canvas.is_wide else 12, 0), name, ahead)
    key = canvas.part(150 if canvas.is_wide else 14, canvas.height - 6)
    key.key(0, -6, (ORANGE, 0.5, "load starts"), (BLUE, 0.16, "under way"), (GREEN, 0.5, "summed, stored"))
