"""Step 4 of both forms of the triangular solve, drawn over L: an equation pulls, or an unknown pushes."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Row-oriented and column-oriented substitution"
HEIGHT = {"wide": 276, "narrow": 560}
N, TURN, CELL = 8, 4, 24
ALTERNATIVE = (
    "The same triangle of eight rows in step 4, twice. In stage 00, four products along row 4 are added to a "
    "single sum. In stage 01, unknown 4 is multiplied by the elements below the diagonal in column 4, and each "
    "product updates a different equation.")
CAPTION = (
    "Step 4 of 8. In stage 00, four products along a row are added to one sum, one after the other. In stage 01, three products "
    "are subtracted from three different elements of the rest, independently of each other. Their elements of L are in one column.")
RIGHT = N * CELL + 40  # horizontal position of the sums and of the partially updated right-hand sides


def y(row):
    """The vertical centre of a row."""
    return CELL * (row + 0.5) - 1


def draw_triangle(canvas, name, known, marked):
    """Draws L, the unknowns above it, and the elements of L that are read."""
    canvas.text(RIGHT / 2, -56, name, bold=True)
    canvas.text(-12, -19, "x", SMALL, ha="right")
    canvas.text(-12, y(0), "L", SMALL, ha="right")
    for j in range(N):
        is_now = j == TURN
        colour, fill = (GREEN, 0.5) if is_now else (BLUE, 0.3) if j < known else (INK, 0)
        canvas.box(CELL * j, -30, CELL - 2, CELL - 2, f"{j}", colour, fill, edge=0.5, size=SMALL)
        for i in range(j, N):
            canvas.box(CELL * j, CELL * i, CELL - 2, CELL - 2, colour=ORANGE if (i, j) in marked else GREEN if i == j == TURN else BLUE,
                       fill=0.5 if (i, j) in marked or i == j == TURN else 0.06, edge=0.4)


def draw_row(canvas):
    """Draws stage 00: the computed unknowns are multiplied by the elements of one row, and the products form one sum."""
    draw_triangle(canvas, "00: equation 4 pulls", TURN, [(TURN, j) for j in range(TURN)])
    for j in range(TURN):
        x = CELL * (j + 0.5) - 1
        canvas.arrow((x, -7), (x, y(TURN) - 6), BLUE)
        canvas.dot(x, y(TURN), 2.5)
    canvas.arrow((CELL / 2, y(TURN)), (RIGHT - 2, y(TURN)), ORANGE, 1.6)
    canvas.box(RIGHT, y(TURN) - 11, 54, CELL - 2, "sum", ORANGE, 0.3, size=SMALL)
    canvas.text(RIGHT + 27, y(TURN + 1) - 3, "then x 4", SMALL)


def draw_column(canvas):
    """Draws stage 01: a computed unknown is multiplied by the elements of one column, and each product updates another
    equation."""
    draw_triangle(canvas, "01: unknown 4 pushes", TURN, [(i, TURN) for i in range(TURN + 1, N)])
    x = CELL * (TURN + 0.5) - 1
    canvas.arrow((x, -7), (x, y(N - 1) - 6), GREEN, 1.6)
    for i in range(TURN + 1, N):
        canvas.dot(x, y(i), 2.5)
        canvas.arrow((x, y(i)), (RIGHT - 2, y(i)), ORANGE)
        canvas.box(RIGHT, y(i) - 11, 54, CELL - 2, f"rest {i}", ORANGE, 0.3, size=SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_row, draw_column)):
        draw_one(panel.part(34, 72))
