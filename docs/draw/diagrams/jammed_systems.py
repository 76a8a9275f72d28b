"""The order of the first elements along y in stages 15 and 19 of local volatility."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "One system at a time, and four systems at a time"
HEIGHT = {"wide": 210, "narrow": 410}
SYSTEMS, ELEMENTS, CELL = 4, 6, 34
ALTERNATIVE = (
    "Two tables of four systems with six elements each, numbered in the order of their computation. On the left, numbers "
    "run along the first system and then along the second. On the right, they run down the four systems, element by element.")
CAPTION = (
    "Rows are systems along y. The numbers are the order of computation of the first twelve elements. An arrow leads from an element to the "
    "element that waits for it. On the left, most elements wait for the element just computed. On the right, no element does.")


def draw_order(canvas, name, number):
    """Draws the elements of the systems; `number` maps a system and an element to its position in the order."""
    canvas.text(170, 12, name, bold=True)
    left, top = 96, 40
    for system in range(SYSTEMS):
        y = top + CELL * system
        canvas.text(left - 10, y + 13, f"system {system}", SMALL, ha="right")
        for element in range(ELEMENTS):
            place = number(system, element)
            is_early = place <= 12
            canvas.box(left + CELL * element, y, CELL - 10, CELL - 8, f"{place}" if is_early else "", ORANGE if is_early else BLUE,
                       0.35 if is_early else 0.1, edge=0.6, size=SMALL)
            if is_early and element > 0:
                canvas.arrow((left + CELL * element - 9, y + 13), (left + CELL * element - 1, y + 13), INK, 1)


def draw(canvas):
    """Draws both panels."""
    orders = (("stage 15", lambda system, element: ELEMENTS * system + element + 1),
              ("this stage", lambda system, element: SYSTEMS * element + system + 1))
    for panel, (name, number) in zip(canvas.panels(2), orders):
        draw_order(panel, name, number)
