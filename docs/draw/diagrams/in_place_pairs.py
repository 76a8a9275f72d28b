"""Stages 08 and 09 of Durbin-Levinson: the elements that the threads of the update read and write."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "The update, one element per thread and one pair per thread"
HEIGHT = {"wide": 204, "narrow": 430}
LENGTH = 8
ALTERNATIVE = (
    "A row of eight elements. In stage 08, eight threads each read two elements and write one element of another row, and threads "
    "1 and 6 read the same two elements. In stage 09, thread 1 reads elements 1 and 6 and writes both in place, so four threads "
    "are enough.")
CAPTION = (
    "An update of eight elements. Orange marks threads 1 and 6 of stage 08, which read the same elements, and thread 1 of stage "
    "09.")


def row(canvas, y, name, marked):
    """Draws a row of elements."""
    canvas.text(36, y + 12, name, SMALL, ha="right")
    for i in range(LENGTH):
        canvas.box(44 + 36 * i, y, 32, 24, f"{i}", ORANGE if i in marked else BLUE, 0.4 if i in marked else 0.12)


def x(i):
    """The horizontal centre of an element."""
    return 60 + 36 * i


def draw_whole(canvas):
    """Draws stage 08: two rows, one thread per element."""
    canvas.text(170, 12, "08: one element per thread, two rows", bold=True)
    row(canvas, 36, "y", (1, 6))
    row(canvas, 170, "next", (1, 6))
    for i in range(LENGTH):
        marked = i in (1, 6)
        canvas.dot(x(i), 110, 8, ORANGE if marked else BLUE, hollow=not marked)
        canvas.arrow((x(i), 120), (x(i), 169), ORANGE if marked else BLUE, 1.4 if marked else 0.6)
        if marked:
            canvas.arrow((x(i), 61), (x(i), 101), ORANGE, 1.4)
            canvas.arrow((x(LENGTH - 1 - i), 61), (x(i) + (8 if i < 4 else -8), 103), ORANGE, 1.4)
    canvas.text(36, 110, "thread", SMALL, ha="right")


def draw_halved(canvas):
    """Draws stage 09: one row, one thread per pair."""
    canvas.text(170, 12, "09: one pair per thread, in place", bold=True)
    row(canvas, 36, "y", (1, 6))
    row(canvas, 170, "y", (1, 6))
    for i in range(LENGTH // 2):
        marked = i == 1
        canvas.dot(x(i), 110, 8, ORANGE if marked else BLUE, hollow=not marked)
        if marked:
            canvas.arrow((x(i), 61), (x(i), 101), ORANGE, 1.4)
            canvas.arrow((x(LENGTH - 1 - i), 61), (x(i) + 9, 105), ORANGE, 1.4)
            canvas.arrow((x(i), 119), (x(i), 169), ORANGE, 1.4)
            canvas.arrow((x(i) + 9, 115), (x(LENGTH - 1 - i), 169), ORANGE, 1.4)
    canvas.text(36, 110, "thread", SMALL, ha="right")


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_whole, draw_halved)):
        draw_one(panel)
