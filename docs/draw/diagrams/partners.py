"""The in-place update of Durbin's recursion, element by element and pair by pair, in the workload durbin_levinson_batched."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Each element and its partner"
HEIGHT = {"wide": 250, "narrow": 500}
K, CELL = 5, 60
ALTERNATIVE = (
    "A row of five elements, twice. In the first one, the update of element 4 needs the old element 2, which has "
    "been overwritten. In the second one, elements 2 and 4 are loaded together and then overwritten, and other "
    "pairs do not need them.")
CAPTION = (
    "Order k = 5, so elements i and 6 − i are partners. First: the update of element 4 needs the old y 2, which no longer exists. "
    "Second: no other pair reads y 2 or y 4, so both may be overwritten.")


def middle(i):
    """The horizontal centre of element i of the row."""
    return 22 + CELL * (i - 1) + 24


def row(canvas, y, new, marked):
    """Draws the row, with its new elements."""
    for i in range(1, K + 1):
        canvas.box(middle(i) - 24, y, 48, 26, f"y {i}" + ("′" if i in new else ""), ORANGE if i in new else BLUE,
                   0.5 if i in marked else 0.2, edge=0.6, size=SMALL, bold=i in marked)


def draw_numbers(canvas):
    """Draws the update element by element, up to the fourth element."""
    row(canvas, 0, (1, 2, 3), (2, 4))
    canvas.box(middle(4) - 48, 62, 96, 26, "y 4 + α · y 2", GREEN, 0.2, size=SMALL)
    canvas.arrow((middle(4), 27), (middle(4), 61), BLUE, 1.4)
    canvas.arrow((middle(2) + 8, 27), (middle(4) - 49, 75), ORANGE, 1.4, dashed=True)
    canvas.text(middle(2) - 4, 70, "already new:\nα · y 2′ is wrong", SMALL)
    canvas.arrow((middle(4), 89), (middle(4), 123), ORANGE, 1.4)
    row(canvas, 124, (1, 2, 3, 4), (4,))
    canvas.text(middle(4), 159, "wrong", SMALL)


def draw_pairs(canvas):
    """Draws the update pair by pair, up to the second pair."""
    row(canvas, 0, (1, 5), (2, 4))
    canvas.box(middle(3) - 68, 54, 136, 42, "y 2 + α · y 4\ny 4 + α · y 2", GREEN, 0.2, size=SMALL)
    for i in (2, 4):
        side = middle(3) + 56 * (i - 3)
        canvas.arrow((middle(i), 27), (side, 53), BLUE, 1.4)
        canvas.arrow((side, 97), (middle(i), 123), ORANGE, 1.4)
    row(canvas, 124, (1, 2, 4, 5), (2, 4))


def draw(canvas):
    """Draws the wrong update on the left or at the top, and the correct one to its right or below."""
    names = "by elements: y 2 is overwritten", "by pairs: both loaded, both written"
    for panel, name, draw_one in zip(canvas.panels(2), names, (draw_numbers, draw_pairs)):
        panel.text(170, 12, name, bold=True)
        draw_one(panel.part(0, 40))
        panel.key(22, 228, (BLUE, 0.3, "of order 5"), (ORANGE, 0.3, "new, of order 6"))
