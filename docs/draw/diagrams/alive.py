"""The arrays of stage 00 of Durbin-Levinson, their live elements, and the two rows of stage 01."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "The elements that are alive in a step"
HEIGHT = {"wide": 262, "narrow": 524}
N, K, TERM = 8, 4, 2
CELL = 17
ALTERNATIVE = (
    "First: the arrays y and sum of stage 00 as triangles, with one column per step. Of both, only a few coloured "
    "elements are alive in step 4. Second: the two rows of stage 01 in three steps. One row is read and the other "
    "is written, and they swap their names after each step.")
CAPTION = (
    "First: all elements that stage 00 stores, with n = 8. Only the coloured elements are alive at the same time. For y, this is the "
    "time of the update in step 4; for sum, it is the time after two terms. Second: the same two columns as rows. A swap exchanges "
    "their names and moves no element.")


def draw_triangle(canvas, name, first, look_of):
    """Draws an array whose column k belongs to step k; the columns begin at step `first`."""
    canvas.text(CELL * N / 2, -24, name, bold=True)
    for k in range(first, N):
        canvas.text(CELL * (k + 0.5), -8, f"{k}", SMALL)
        for i in range(k + 1):
            colour, fill = look_of(i, k)
            canvas.box(CELL * k, CELL * i, CELL - 2, CELL - 2, colour=colour, fill=fill, edge=0.4)


def of_y(_, k):
    """The colour and opacity of an element of y in the update of step K."""
    return (BLUE, 0.35) if k == K - 1 else (ORANGE, 0.6) if k == K else (INK, 0.22 if k < K else 0)


def of_sum(i, k):
    """The colour and opacity of an element of the array sum after some terms have been added."""
    return (ORANGE, 0.6) if (k, i) == (K, TERM) else (INK, 0.22 if (k, i) < (K, TERM) else 0)


def draw_all(canvas):
    """Draws both arrays of stage 00."""
    canvas.text(170, 12, f"00: a column per step, here in step k = {K}", bold=True)
    draw_triangle(canvas.part(20, 66), "y(i, k)", 0, of_y)
    draw_triangle(canvas.part(190, 66), "sum(i, k)", 1, of_sum)
    canvas.key(42, 222, (BLUE, 0.35, "read"), (ORANGE, 0.6, "written or accumulated"))
    canvas.key(42, 242, (INK, 0.22, "not read again"), (INK, 0, "not written yet"))


def draw_rows(canvas):
    """Draws the two rows of stage 01 in successive steps."""
    canvas.text(170, 12, "01: two rows that swap, and a variable", bold=True)
    left, pitch = 104, 20
    canvas.text(left + pitch * N + 34, 36, "in a register", SMALL)
    for n, k in enumerate((K, K + 1, K + 2)):
        top = 48 + 72 * n
        canvas.text(4, top + 22, f"k = {k}", SMALL, ha="left")
        for row in range(2):
            is_read = row == (k + 1) % 2  # in step 1, row 0 is y
            canvas.text(left - 8, top + 24 * row + 10, "y" if is_read else "next", ha="right", bold=True)
            for i in range(N):
                used = i < k + (0 if is_read else 1)
                canvas.box(left + pitch * i, top + 24 * row, pitch - 2, 20, colour=(BLUE if is_read else ORANGE) if used else INK,
                           fill=(0.35 if is_read else 0.6) if used else 0, edge=0.4)
        canvas.box(left + pitch * N + 18, top + 11, 32, 22, "sum", ORANGE, 0.6, edge=0.4, size=SMALL)
        if n < 2:
            for one, other in ((-34, -14), (-14, -34)):
                canvas.arrow((left + one, top + 46), (left + other, top + 71))
            canvas.text(left, top + 58, "swap", SMALL, ha="left")


def draw(canvas):
    """Draws stage 00 on the left or above, and stage 01 beside or below it."""
    for panel, draw_one in zip(canvas.panels(2), (draw_all, draw_rows)):
        draw_one(panel)
