"""Panels of a matrix on three GPUs, in contiguous parts and distributed cyclically, when half of them are complete."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Panels in contiguous parts, and panels distributed cyclically"
HEIGHT = {"wide": 370, "narrow": 740}
COLOURS = [BLUE, ORANGE, GREEN]
PANELS, KNOWN, WIDTH = 18, 9, 12
ALTERNATIVE = (
    "Two triangles of 18 panels for three GPUs, of which nine panels are complete. On the left, each GPU has six "
    "adjacent panels, and GPU 0 has nothing left to do. On the right, each GPU has every third panel, and each "
    "has three panels left.")
CAPTION = (
    "Half of the panels are complete (pale), and their products are subtracted from the other panels. The bars show the part of the "
    "triangle that remains for each GPU, counted in squares as wide as a panel.")


def draw_deal(canvas, name, owner):
    """Draws a triangle whose panels belong to GPUs, and the work that remains for each GPU."""
    side = PANELS * WIDTH
    canvas.text(side / 2, -26, name, bold=True)
    left = [0] * len(COLOURS)
    for p in range(PANELS):
        g, top = owner(p), WIDTH * p
        corners = [(top, top), (top + WIDTH, top + WIDTH), (top + WIDTH, side), (top, side)]
        canvas.shape(corners, COLOURS[g], 0.15 if p < KNOWN else 0.6, edge=0.4)
        canvas.text(top + WIDTH / 2, side + 10, f"{g}", SMALL)
        left[g] += PANELS - p if p >= KNOWN else 0
    canvas.text(-6, side + 10, "GPU", SMALL, ha="right")
    canvas.line((WIDTH * KNOWN, WIDTH * KNOWN - 46), (WIDTH * KNOWN, side + 2), colour=INK, width=1.2, dashed=True)
    canvas.text(WIDTH * KNOWN - 6, WIDTH * KNOWN - 55, "complete | to do", SMALL)
    for g, squares in enumerate(left):
        y = side + 30 + 24 * g
        canvas.text(-6, y + 8, f"left to GPU {g}", SMALL, ha="right")
        canvas.box(0, y, 6 * squares, 16, colour=COLOURS[g], fill=0.6, edge=0.5 if squares else 0)
        canvas.text(6 * squares + 6, y + 8, f"{squares}" if squares else "nothing", SMALL, ha="left")


def draw(canvas):
    """Draws contiguous parts on the left or above, and cyclic distribution on the right or below."""
    parts, dealt = (panel.part(86, 44) for panel in canvas.panels(2, 330))
    draw_deal(parts, "a contiguous part each", lambda p: p * len(COLOURS) // PANELS)
    draw_deal(dealt, "cyclic distribution", lambda p: p % len(COLOURS))
