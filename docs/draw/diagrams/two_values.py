"""The digits that stage 07 of the workload nbody keeps and f32 would lose: in differences of positions and in long sums."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Positions as two f32 values each, and sums in two levels"
HEIGHT = {"wide": 262, "narrow": 510}
GRID, COUNT = 44, 7  # pixels between adjacent values of f32, and the number of values drawn
POSITIONS = ((1.42, BLUE, "ᵢ"), (4.3, ORANGE, "ⱼ"))
ALTERNATIVE = (
    "First: the values that f32 can represent as ticks, and two bodies between them. High parts lead to the "
    "nearest ticks, and low parts from there to the bodies. Second: 128 terms at a time are added in f32, and "
    "their sums in f64.")
CAPTION = (
    "First: far from the origin, the values of f32 (ticks) are far apart. The low parts have a much finer grid and determine the "
    "position of a body between two ticks. Second: a sum in f32 never has more than 128 terms.")


def draw_positions(canvas):
    """Draws two positions between adjacent values of f32."""
    canvas.text(170, 12, "positions, far from the origin", bold=True)
    here, y = canvas.part(38, 0), 124
    here.line((-24, y), (GRID * (COUNT - 1) + 24, y))
    for n in range(COUNT):
        here.line((GRID * n, y - 6), (GRID * n, y + 6))
    here.text(GRID * (COUNT - 1) + 20, y + 18, "values of f32", SMALL, ha="right")
    for x, colour, name in POSITIONS:
        high, true = GRID * round(x), GRID * x
        here.dot(true, y, 4.5, colour)
        here.line((true, y - 8), (true, y - 64), colour=colour, width=0.8, dashed=True)
        here.text(true + 6, y - 18, f"x{name}", ha="left", bold=True)
        here.line((high, y + 8), (high, y + 62), colour=colour, width=0.8, dashed=True)
        here.text(high - 5, y + 26, f"h{name}", SMALL, ha="right")
        here.arrow((high, y + 26), (true, y + 26), colour, 1.6)
        here.text(true + 5, y + 26, f"l{name}", SMALL, ha="left")
    (first, *_), (second, *_) = POSITIONS
    here.arrow((GRID * first, y - 58), (GRID * second, y - 58), INK, 1.6)
    here.text(GRID * (first + second) / 2, y - 72, "xⱼ − xᵢ", SMALL)
    here.arrow((GRID * round(first), y + 56), (GRID * round(second), y + 56), GREEN, 1.6)
    here.text(GRID * (round(first) + round(second)) / 2, y + 72, "hⱼ − hᵢ", SMALL)
    canvas.text(170, y + 104, "xⱼ − xᵢ = (hⱼ − hᵢ) + (lⱼ − lᵢ)")


def draw_sums(canvas):
    """Draws the terms of the tiles, the sums of the tiles, and the total sum."""
    canvas.text(170, 12, "the sum of a body", bold=True)
    width, left = 66, 10
    for n in range(4):
        x = left + (width + 16) * n
        canvas.text(x + width / 2, 40, f"tile {n}", SMALL)
        for t in range(8):
            canvas.box(x + width / 8 * t, 52, width / 8 - 2, 18, colour=BLUE, fill=0.35, edge=0)
        canvas.shape(((x, 76), (x + width - 2, 76), (x + width / 2 - 1, 108)), BLUE, 0.12, 0.5)
        canvas.box(x + 8, 112, width - 18, 22, "f32", BLUE, 0.35, size=SMALL)
        canvas.arrow((x + width / 2 - 1, 135), (x + width / 2 - 1, 164), GREEN, 1.4)
        canvas.box(x + 4, 166, width - 10, 26, "f64", GREEN, 0.4, size=SMALL)
        if n:
            canvas.arrow((x - 22, 179), (x + 3, 179), GREEN, 1.4)
    canvas.text(170, 210, "128 terms each, added in f32", SMALL)
    canvas.text(170, 224, "sums of the tiles converted to f64 and added", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_positions, draw_sums)):
        draw_one(panel)
