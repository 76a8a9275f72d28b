"""The slices of a nest of two loops, in the order of the indices of the slices, and the slices of one loop according
to four formulas for their bounds."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Slices and their numbers"
HEIGHT = {"wide": 340, "narrow": 660}
ALTERNATIVE = (
    "First: a field of 10 by 7 iterations, cut into three by two slices. An arrow leads from each slice to the "
    "next one, down the left slices and then down the right ones. Second: ten iterations, cut in four ways, one "
    "with an empty slice and one with missing iterations.")
CAPTION = (
    "First: S = (3, 2), so that L = (4, 4). The last slices of either loop are shorter. The first digit of e changes fastest, down "
    "the field. Second: ten iterations. Iterations that are in no slice are crossed out.")

COLOURS = [BLUE, ORANGE, GREEN, PURPLE]


def pieces(n, slices):
    """The slices of a loop of n iterations, as pairs of the first iteration and the end (exclusive)."""
    length = -(-n // slices)
    return [(s * length, min((s + 1) * length, n)) for s in range(slices)]


def draw_field(canvas):
    """Draws iterations of two loops, coloured by slice."""
    cell, rows, cols = 24, pieces(10, 3), pieces(7, 2)
    canvas.text(170, 12, "N = (10, 7), S = (3, 2)", bold=True)
    field = canvas.part(96, 58)
    centres = []
    for s1, (left, right) in enumerate(cols):
        field.text(cell * (left + right) / 2, -12, f"s₁ = {s1}", SMALL)
        for s0, (top, bottom) in enumerate(rows):
            colour = COLOURS[(s0 + 2 * s1) % 4]
            for i in range(top, bottom):
                for j in range(left, right):
                    field.box(cell * j + 1.5, cell * i + 1.5, cell - 3, cell - 3, colour=colour, fill=0.3, edge=0)
            field.box(cell * left, cell * top, cell * (right - left), cell * (bottom - top), colour=colour, edge=1.2)
            centres.append((cell * (left + right) / 2, cell * (top + bottom) / 2))
            if s1 == 0:
                field.text(-8, cell * (top + bottom) / 2, f"s₀ = {s0}", SMALL, ha="right")
    for (x0, y0), (x1, y1) in zip(centres, centres[1:]):
        steep = 13 if x0 == x1 else 0
        field.arrow((x0 + (0 if steep else 12), y0 + steep), (x1 - (0 if steep else 12), y1 - steep), width=1)
    for e, (x, y) in enumerate(centres):
        field.text(x, y, f"{e}", 14, bold=True)
    field.text(-70, cell * 5, "i ↓", SMALL)
    field.text(cell * 3.5, cell * 10 + 14, "j →", SMALL)


def draw_loop(canvas, title, ranges, n=10):
    """Draws the iterations of one loop; iterations that belong to no slice are crossed out."""
    cell = 28
    canvas.text(0, 0, title, ha="left")
    held = set()
    for s, (first, last) in enumerate(ranges):
        held |= set(range(first, last))
        if first < last:
            canvas.box(cell * first + 1, 12, cell * (last - first) - 2, 22, colour=COLOURS[s % 4], fill=0.3)
        elif first == n:
            canvas.box(cell * first + 4, 12, 22, 22, "5", dashed=True, size=SMALL)
    for i in range(n):
        canvas.text(cell * (i + 0.5), 23, f"{i}", SMALL)
        if i not in held:
            canvas.box(cell * i + 1, 12, cell - 2, 22, edge=0.4, dashed=True)
            canvas.line((cell * i + 5, 30), (cell * (i + 1) - 5, 16), colour=INK, width=1)


def draw_loops(canvas):
    """Draws one loop that is cut in four ways."""
    canvas.text(170, 12, "N = 10", bold=True)
    wrong = [(4 * s, min(4 * (s + 1), 3)) for s in range(3)]
    even = [(s * 10 // 6, (s + 1) * 10 // 6) for s in range(6)]
    for n, (title, ranges) in enumerate((
            ("S = 3, L = 4", pieces(10, 3)), ("S = 3, with the printed bound", wrong),
            ("S = 6, L = 2: slice 5 is empty", pieces(10, 6)), ("S = 6, evenly", even))):
        draw_loop(canvas.part(16, 48 + 66 * n), title, ranges)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_field, draw_loops)):
        draw_one(panel)
