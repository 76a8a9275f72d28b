"""The times at which a thread loads its rows and uses them, in stages 13 and 20 of advection."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Loads in flight: two rows, and all eight"
HEIGHT = {"wide": 304, "narrow": 592}
ROWS, WAIT, LINE, UNIT = 8, 7, 23, 6.2  # rows of a block, time of a load in flight, pixels per row, pixels per unit of time
ALTERNATIVE = (
    "Two timelines of a thread with one line per row. In stage 13, the thread loads two rows at a time and waits "
    "four times. In stage 20, it starts all eight loads, waits once, and finishes in less than half of the time.")
CAPTION = (
    "One thread walks down eight rows, not to scale; the two rows that it loads before the loop are left out. Other "
    "warps load in the meantime, so the real gain is far smaller than in this picture.")


def draw_rows(canvas, name, ahead):
    """Draws the load and the use of each row; `ahead` rows are loaded before the first row is used."""
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
    """Draws two panels, and the key."""
    for panel, name, ahead in zip(canvas.panels(2, 300), ("13: two rows at a time", "20: all rows first"), (2, ROWS)):
        draw_rows(panel.part(0 if canvas.is_wide else 12, 0), name, ahead)
    key = canvas.part(150 if canvas.is_wide else 14, canvas.height - 6)
    key.key(0, -6, (ORANGE, 0.5, "load starts"), (BLUE, 0.16, "in flight"), (GREEN, 0.5, "summed, stored"))
