"""The reduction of a warp by exchanges in stage 08 of Durbin-Levinson."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A sum by butterfly exchanges"
LANES, CELL, DOWN = 8, 36, 54
HEIGHT = {"wide": 250, "narrow": 250}
ALTERNATIVE = (
    "Eight lanes with one value each, in four rows. In three exchanges, each lane adds the value of a lane at "
    "distance 4, then 2, then 1. After each exchange, twice as many lanes have the same sum. In the end, all "
    "lanes have the total.")
CAPTION = ("Eight lanes instead of 32, so three exchanges instead of five. Dark boxes contribute to the sum of lane 0. Lanes that exchange "
           "values get the same sum, and in the end all lanes have it.")


def draw(canvas):
    """Draws one row for the initial values, and one row after each exchange."""
    here = canvas.part((canvas.width - CELL * LANES) / 2 + (0 if canvas.is_wide else 18), 0)
    names = ("", "xor 4", "xor 2", "xor 1")
    for row, name in enumerate(names):
        y = 22 + DOWN * row
        here.text(-8, y + 10, name, SMALL, ha="right")
        for lane in range(LANES):
            words = f"{lane}" if not row else f"{2 ** row} of 8"
            counts = lane < LANES >> row  # contributes to the sum of lane 0
            here.box(CELL * lane + 2, y, CELL - 4, 20, words if row < 3 else "all", (BLUE, GREEN, GREEN, ORANGE)[row],
                     0.45 if counts else 0.1, size=SMALL)
            if row < 3:
                other = lane ^ (LANES // 2 >> row)
                here.line((CELL * lane + CELL / 2, y + 21), (CELL * other + CELL / 2, y + DOWN - 1), width=0.7, opacity=0.6)
                here.line((CELL * lane + CELL / 2, y + 21), (CELL * lane + CELL / 2, y + DOWN - 1), width=0.7, opacity=0.6)
    here.text(CELL * LANES / 2, 10, "one value per lane", bold=True)
    here.text(CELL * LANES / 2, 22 + DOWN * 3 + 36, "no memory, no barrier", SMALL)
