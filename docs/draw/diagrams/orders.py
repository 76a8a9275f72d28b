"""The dependences of the recursion of Durbin and Levinson, order by order."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "The triangle of orders"
HEIGHT = {"wide": 330, "narrow": 330}
ORDERS, READER, ELEMENT = 6, 4, 1
ALTERNATIVE = (
    "A triangle in which order k is a row of k elements. Arrows lead from all elements of a row to alpha of the next order, and "
    "from alpha to all elements of its row. Element 1 of order 5 also needs elements 1 and 2 of order 4.")
CAPTION = (
    "An arrow is a dependence. Each α needs the whole previous row, and each element of the next row needs α (grey bars). An element "
    "also needs two elements of the previous row. For element 1 of order 5, these two elements are orange.")


def draw(canvas):
    """Draws one row per order."""
    here = canvas.part((canvas.width - 340) / 2, 0)
    pitch, left = 40, 100

    def y(order):
        return 34 + 50 * (order - 1)

    here.text(42, 12, "α", bold=True)
    here.text(left + 20, 12, "i = 0", SMALL)
    for i in range(1, ORDERS):
        here.text(left + pitch * (i + 0.5), 12, f"{i}", SMALL)
    for order in range(1, ORDERS + 1):
        top = y(order)
        here.text(4, top + 12, f"{order}", SMALL, ha="left")
        here.dot(44, top + 12, 9, GREEN, hollow=True)
        here.box(left - 4, top - 3, pitch * order + 2, 30, fill=0.1, edge=0.4)
        here.arrow((54, top + 12), (left - 5, top + 12), GREEN, 1.2)
        if order < ORDERS:
            here.arrow((left - 4, top + 24), (52, y(order + 1) + 6), BLUE, 1.2)
        for i in range(order):
            is_reader = order == READER + 1 and i == ELEMENT
            is_read = order == READER and i in (ELEMENT, READER - 1 - ELEMENT)
            here.box(left + pitch * i, top, pitch - 6, 24, colour=ORANGE if is_reader or is_read else BLUE,
                     fill=0.6 if is_reader else 0.3 if is_read else 0.14)
    for i in (ELEMENT, READER - 1 - ELEMENT):
        here.arrow((left + pitch * i + 17, y(READER) + 24),
                   (left + pitch * ELEMENT + 17, y(READER + 1)), ORANGE, 1.4)
    here.text(4, 14, "order", SMALL, ha="left")
