"""The two loops that refresh the halo in stage 00 of advection, and how a corner gets its value."""

from draw.canvas import BLUE, GREEN, INK, ORANGE

TITLE = "The halo: first rows, then columns including the halo rows"
HEIGHT = {"wide": 282, "narrow": 544}
ROWS, COLS, CELL = 3, 4, 36  # rows and columns of the field without its halo, and pixels per cell
ALTERNATIVE = (
    "A field of three rows and four columns with a halo, twice. The first loop copies the last and the first row "
    "into the halo. The second loop copies the last and the first column, including the halo rows, so cell 12 "
    "reaches the opposite corner.")
CAPTION = (
    "The numbers name cells of the field. An empty halo cell has not been refreshed yet. The bold frames follow cell 12: the "
    "first loop copies it up with its row, and the second loop copies it into the corner diagonally opposite.")


def number(i, j):
    """The number of the cell whose value belongs at row i and column j; the indices include the halo."""
    return (i - 1) % ROWS * COLS + (j - 1) % COLS + 1


def draw_field(canvas, loop):
    """Draws the field and its halo after the first or the second loop."""
    followed = ((ROWS, COLS), (0, COLS)) if loop == 1 else ((0, COLS), (0, 0))
    for i in range(ROWS + 2):
        for j in range(COLS + 2):
            is_row, is_column = i in (0, ROWS + 1), j in (0, COLS + 1)
            colour, fill = (GREEN, 0.35) if is_column else (ORANGE, 0.35) if is_row else (BLUE, 0.2)
            is_there = loop == 2 or not is_column
            is_followed = (i, j) in followed
            canvas.box(CELL * j + 1, CELL * i + 1, CELL - 2, CELL - 2, f"{number(i, j)}" if is_there else "",
                       INK if is_followed else colour, edge=2 if is_followed else 0.5, dashed=not is_there, bold=is_followed)
            if is_there:
                canvas.box(CELL * j + 1, CELL * i + 1, CELL - 2, CELL - 2, colour=colour, fill=fill, edge=0)


def middle(i):
    """The centre of a row or a column in pixels."""
    return CELL * (i + 0.5)


def draw_rows(canvas):
    """Draws the first loop; its arrows cross columns of the halo that are still empty."""
    draw_field(canvas, 1)
    right, left = CELL * (COLS + 1), CELL
    canvas.arrow((right, middle(ROWS)), (right, middle(0)), ORANGE, 1.6, bend=0.3)
    canvas.arrow((left, middle(1)), (left, middle(ROWS + 1)), ORANGE, 1.6, bend=0.3)


def draw_columns(canvas):
    """Draws the second loop; its arrows are above and below the field."""
    draw_field(canvas, 2)
    bottom = CELL * (ROWS + 2)
    canvas.arrow((middle(COLS), 0), (middle(0), 0), GREEN, 1.6, bend=0.2)
    canvas.arrow((middle(1), bottom), (middle(COLS + 1), bottom), GREEN, 1.6, bend=0.2)


def draw(canvas):
    """Draws both panels."""
    names = "first loop: rows", "second loop: columns"
    for panel, name, draw_one in zip(canvas.part(0, 0, canvas.width, canvas.height - 24).panels(2), names, (draw_rows, draw_columns)):
        panel.text(170, 12, name, bold=True)
        draw_one(panel.part((340 - CELL * (COLS + 2)) / 2, 48))
    key = canvas.part(250 if canvas.is_wide else 20, canvas.height - 12)
    key.key(0, 0, (BLUE, 0.2, "field"), (ORANGE, 0.35, "halo, first loop"), (GREEN, 0.35, "halo, second loop"))
