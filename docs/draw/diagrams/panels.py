"""Panels in the caches and sums in the registers, in stage 02 of AᵀA."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Two panels, and the part of their tile in registers"
HEIGHT = {"wide": 250, "narrow": 490}
ALTERNATIVE = (
    "First: A in panels of 24 columns, next to each other; the same 128 rows of two panels, p and q, are marked. Second: the tile of C "
    "that these two panels give, 24 by 24 elements, in three parts of 8 by 24 below each other; one part at a time is in registers.")
CAPTION = (
    "First: 128 rows of panels p and q, which fit in the caches of a core. Second: their tile of C. A part of 8 × 24 sums stays in "
    "registers for all 128 rows, on processors with 32 vector registers of 8 elements.")


def draw_panels(canvas):
    """Draws A, cut into panels."""
    canvas.text(170, 12, "A in panels of 24 columns", bold=True)
    left, top, width = 34, 46, 34
    for n in range(8):
        canvas.box(left + width * n, top, width - 3, 180, edge=0.6)
        if n in (2, 5):
            canvas.box(left + width * n, top + 50, width - 3, 66, colour=BLUE if n == 2 else GREEN, fill=0.45, edge=0)
            canvas.text(left + width * n + 15, top - 10, "p" if n == 2 else "q", bold=True)
    canvas.text(left - 8, top + 83, "128", SMALL, ha="right")
    canvas.line((left - 4, top + 50), (left - 4, top + 116))


def draw_tile(canvas):
    """Draws the tile, and its part in registers."""
    canvas.text(170, 12, "the tile (p, q) of C", bold=True)
    left, top, scale = 110, 74, 6
    canvas.box(left, top - 24, 24 * scale, 14, "a row of panel q: 3 vectors", GREEN, 0.35, size=SMALL)
    canvas.box(left - 26, top, 14, 8 * scale, colour=BLUE, fill=0.45)
    canvas.text(left - 34, top + 24, "8 of p", SMALL, ha="right")
    for part in range(3):
        canvas.box(left, top + 8 * scale * part, 24 * scale, 8 * scale, "8 × 24 sums in registers" if not part else "",
                   ORANGE, 0.45 if not part else 0.08, size=SMALL)
    canvas.text(left + 72, top + 72, "then these", SMALL)
    canvas.text(left + 72, top + 120, "and these", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_panels, draw_tile)):
        draw_one(panel)
