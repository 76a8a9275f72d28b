"""The sums along x that eight rows of a column need, in stage 06 of advection and in stage 07."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Row sums for eight results: 24 in stage 06, ten in stage 07"
HEIGHT = {"wide": 306, "narrow": 612}
ROWS, PITCH, MARKED = 8, 24, 4  # rows of a column, pixels per row, and the row whose sum is followed
ALTERNATIVE = (
    "Eight results of a column. In stage 06, each result has three row sums of its own, so the sum of row 4 is "
    "computed three times. In stage 07, there are ten row sums, each of which is computed once and used for up to "
    "three results.")
CAPTION = (
    "Each box is labelled with its row. A row sum is the weighted sum of three neighbours within a row. The sum of row 4 is "
    "orange: it is computed three times in stage 06 and once in stage 07, where it stays in a register until row 6 has been "
    "loaded.")


def draw_one(canvas, x, row, colour, number):
    """Draws a sum or a result, labelled with its row."""
    canvas.box(x, PITCH * row, 30, PITCH - 5, f"{number}", colour, 0.5 if colour == ORANGE else 0.2, edge=0.5, size=SMALL)


def draw_each(canvas):
    """Draws stage 06: each result computes its own three sums."""
    canvas.text(150, -46, "06: 24 sums, three for each result", bold=True)
    canvas.text(86, -14, "sums along x", SMALL)
    for row in range(1, ROWS + 1):
        for n, summed in enumerate((row - 1, row, row + 1)):
            draw_one(canvas, 34 + 36 * n, row, ORANGE if summed == MARKED else BLUE, summed)
        canvas.arrow((142, PITCH * row + 9), (218, PITCH * row + 9), width=0.8)
        draw_one(canvas, 222, row, GREEN, row)


def draw_once(canvas):
    """Draws stage 07: ten sums, each for up to three results."""
    canvas.text(150, -46, "07: ten sums, each computed once", bold=True)
    canvas.text(86, -14, "sums along x", SMALL)
    for summed in range(ROWS + 2):
        colour = ORANGE if summed == MARKED else BLUE
        draw_one(canvas, 70, summed, colour, summed)
        for row in range(max(summed - 1, 1), min(summed + 1, ROWS) + 1):
            start, end = (101, PITCH * summed + 9), (220, PITCH * row + 9)
            if summed == MARKED:
                canvas.arrow(start, end, ORANGE, 1.6)
            else:
                canvas.line(start, end, colour=BLUE, width=0.6)
    for row in range(1, ROWS + 1):
        draw_one(canvas, 222, row, GREEN, row)
    canvas.line((60, PITCH * 8), (56, PITCH * 8), (56, PITCH * 10 - 5), (60, PITCH * 10 - 5))
    canvas.text(50, PITCH * 9 - 2, "again for\nthe next\n8 rows", SMALL, ha="right")


def draw(canvas):
    """Draws both panels."""
    for panel, draw_panel in zip(canvas.panels(2, 300), (draw_each, draw_once)):
        here = panel.part(0 if canvas.is_wide else 15, 60)
        here.text(237, -14, "results", SMALL)
        draw_panel(here)
