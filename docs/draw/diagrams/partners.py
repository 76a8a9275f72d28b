"""The update of Durbin's recursion in place, number by number and pair by pair, in stage 00 of many systems."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Each number and its partner"
HEIGHT = {"wide": 250, "narrow": 500}
K, CELL = 5, 60
ALTERNATIVE = (
    "A row of five numbers, y 1 to y 5, twice. First: numbers are updated one by one, and 1, 2 and 3 are new already. Number 4 is "
    "to take y 4 and y 2 as they were, but y 2 has been overwritten; its arrow is dashed. Second: the pair of y 2 and y 4 is "
    "loaded, both of it as it was, and both are written; y 1 and y 5 are another pair, and y 3, in the middle, is its own partner.")
CAPTION = (
    "Order k = 5, so that partners are i and 6 − i. First: y 2 is new when number 4 asks for the old one. Second: no other pair "
    "asks for y 2 or y 4, so that both may be overwritten.")


def middle(i):
    """Where number i of the row is."""
    return 22 + CELL * (i - 1) + 24


def row(canvas, y, new, marked):
    """The row, with what is new in it."""
    for i in range(1, K + 1):
        canvas.box(middle(i) - 24, y, 48, 26, f"y {i}" + ("′" if i in new else ""), ORANGE if i in new else BLUE,
                   0.5 if i in marked else 0.2, edge=0.6, size=SMALL, bold=i in marked)


def draw_numbers(canvas):
    """One by one: the fourth number."""
    row(canvas, 0, (1, 2, 3), (2, 4))
    canvas.box(middle(4) - 48, 62, 96, 26, "y 4 + α · y 2", GREEN, 0.2, size=SMALL)
    canvas.arrow((middle(4), 27), (middle(4), 61), BLUE, 1.4)
    canvas.arrow((middle(2) + 8, 27), (middle(4) - 49, 75), ORANGE, 1.4, dashed=True)
    canvas.text(middle(2) - 4, 70, "new already:\nα · y 2′ is wrong", SMALL)
    canvas.arrow((middle(4), 89), (middle(4), 123), ORANGE, 1.4)
    row(canvas, 124, (1, 2, 3, 4), (4,))
    canvas.text(middle(4), 159, "wrong", SMALL)


def draw_pairs(canvas):
    """Pair by pair: the second pair."""
    row(canvas, 0, (1, 5), (2, 4))
    canvas.box(middle(3) - 68, 54, 136, 42, "y 2 + α · y 4\ny 4 + α · y 2", GREEN, 0.2, size=SMALL)
    for i in (2, 4):
        side = middle(3) + 56 * (i - 3)
        canvas.arrow((middle(i), 27), (side, 53), BLUE, 1.4)
        canvas.arrow((side, 97), (middle(i), 123), ORANGE, 1.4)
    row(canvas, 124, (1, 2, 4, 5), (2, 4))


def draw(canvas):
    """The trap on the left or above, the way out beside or below it."""
    names = "number by number: reads what is gone", "pair by pair: both loaded, both written"
    for panel, name, draw_one in zip(canvas.panels(2), names, (draw_numbers, draw_pairs)):
        panel.text(170, 12, name, bold=True)
        draw_one(panel.part(0, 40))
        panel.key(22, 228, (BLUE, 0.3, "of order 5"), (ORANGE, 0.3, "new, of order 6"))
