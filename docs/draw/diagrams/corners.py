"""Stage 05 of advection: the part of the halo that each thread owns, and the source of a corner's value."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "A halo corner: copied through another thread, or from inside the field"
HEIGHT = {"wide": 306, "narrow": 612}
OWNERS = (BLUE, ORANGE, GREEN, PURPLE)  # the colours of a grid of 2 × 2 threads
SIDE, CELL = 6, 29  # cells along each direction without the halo, and pixels per cell
ALTERNATIVE = (
    "Two pictures of a field of six by six cells with a halo, divided among four threads. In the order of stage "
    "zero, the last cell reaches the upper left corner in two copies with a barrier between them. In the other "
    "order, one copy is enough.")
CAPTION = (
    "Pale cells are the halo, in the colour of the thread that refreshes them. The corner gets the same value in both cases. "
    "In stage 05, no thread has to wait until another thread has written to the halo.")


def middle(i, j):
    """The centre of a cell; the indices include the halo."""
    return CELL * (j + 0.5), CELL * (i + 0.5)


def draw_field(canvas):
    """Draws the blocks of four threads, each with its part of the halo."""
    for i in range(SIDE + 2):
        for j in range(SIDE + 2):
            is_inside = 0 < i <= SIDE and 0 < j <= SIDE
            owner = 2 * (i > SIDE / 2) + (j > SIDE / 2)
            canvas.box(CELL * j + 1, CELL * i + 1, CELL - 2, CELL - 2, colour=OWNERS[owner], fill=0.32 if is_inside else 0.1,
                       edge=0.3 if is_inside else 0.6, dashed=not is_inside)
    for owner, (i, j) in enumerate(((2, 2), (2, 5), (5, 2), (5, 5))):
        canvas.text(*middle(i, j), f"{owner}", size=14, bold=True)


def draw_ways(canvas, is_straight):
    """Draws the path of a value from a corner of the field to the opposite corner of the halo."""
    canvas.text(CELL * (SIDE / 2 + 1), -46, "05: from inside" if is_straight else "as in stage zero: from the halo", bold=True)
    draw_field(canvas)
    (x, y), (left, top) = middle(SIDE, SIDE), middle(0, 0)
    canvas.dot(x, y, 3.5)
    if is_straight:
        canvas.arrow((x, y), (left + 4, top + 4), INK, 1.6, bend=-0.28)
        canvas.text(CELL * (SIDE / 2 + 1), -24, "by thread 0 alone", SMALL)
    else:
        canvas.dot(x, top, 3.5)
        canvas.arrow((x, y), (x, top + 5), INK, 1.6)
        canvas.arrow((x, top), (left + 3, top - 3), INK, 1.6, bend=0.16)
        canvas.text(CELL * (SIDE / 2 + 1), -24, "2: by thread 0, after a barrier", SMALL)
        canvas.text(CELL * (SIDE + 2) + 10, CELL * (SIDE / 2 + 1), "1: by thread 1", SMALL, rotation=270)


def draw(canvas):
    """Draws both panels."""
    for is_straight, panel in enumerate(canvas.panels(2, CELL * (SIDE + 2))):
        draw_ways(panel.part(0 if canvas.is_wide else (canvas.width - CELL * (SIDE + 2)) / 2, 62), is_straight)
