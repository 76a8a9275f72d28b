"""Stage 08 of advection: the correct region of a tile after each of the eight steps."""

from draw.canvas import BLUE, GREEN, INK, SMALL

TITLE = "A tile through eight steps"
STEPS = 8
HEIGHT = {"wide": 258, "narrow": 258}
ALTERNATIVE = (
    "A cross-section of a tile along its columns, with one line for the cells as loaded and one for each of eight steps. With each "
    "step, the correct region becomes shorter by one cell at both ends. After the eighth step, exactly the 256 cells of the "
    "tile are correct, and they are written.")
CAPTION = (
    "A cross-section along the columns; the border of 8 cells is drawn wider than to scale. The blue cells are correct, but the "
    "neighbouring tiles load or compute them as well. Only the green cells are kept. Tiles exchange no values.")


def draw(canvas):
    """Draws a row for each step."""
    cell, tile = (14, 300) if canvas.is_wide else (8, 128)
    here = canvas.part((canvas.width - tile - 2 * STEPS * cell) / 2 + 20, 30)
    here.text(tile / 2 + STEPS * cell, -14, "256 cells and 8 on each side", SMALL)
    for step in range(STEPS + 1):
        y, border = 20 * step, (STEPS - step) * cell
        here.text(-6, y + 9, "loaded" if not step else f"step {step}", SMALL, ha="right")
        here.box(0, y, tile + 2 * STEPS * cell, 17, colour=INK, edge=0.3)
        if border:
            here.box(step * cell, y, border, 17, colour=BLUE, fill=0.22, edge=0)
            here.box(STEPS * cell + tile, y, border, 17, colour=BLUE, fill=0.22, edge=0)
        here.box(STEPS * cell, y, tile, 17, colour=GREEN, fill=0.16 if step < STEPS else 0.6, edge=0)
    here.text(tile / 2 + STEPS * cell, 20 * STEPS + 9, "written", SMALL, bold=True)
    here.key(0 if canvas.is_wide else -44, 20 * STEPS + 40, (BLUE, 0.22, "correct, but not kept"), (GREEN, 0.6, "the tile"))
