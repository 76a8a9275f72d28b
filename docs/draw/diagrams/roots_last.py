"""The operations between one pivot and the next in a square, in stages 18 and 19 of Cholesky."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A root in each step, and all roots at the end"
HEIGHT = {"wide": 372, "narrow": 744}
HIGH = 26
ALTERNATIVE = (
    "Two flows from top to bottom for one step. In stage 18, the reciprocal root, the scaled column and the "
    "subtraction follow each other. In stage 19, the unscaled column is stored while the reciprocal is computed. "
    "All sixteen roots come at the end, at the same time.")
CAPTION = (
    "The operations from one pivot to the next. In stage 19, a column is stored before the reciprocal of its pivot is computed. The "
    "sixteen roots, one per lane, are computed once, at the end of the critical path.")


def chain(canvas, x, *boxes):
    """Draws boxes one below the other, with an arrow from each box to the next. A box is (y, width, words, colour)."""
    for (y, _, _, _), (to, _, _, _) in zip(boxes, boxes[1:]):
        canvas.arrow((x, y + HIGH), (x, to - 1), width=1.4)
    for y, width, words, colour in boxes:
        canvas.box(x - width / 2, y, width, HIGH, words, colour, 0.32 if colour != INK else 0.06, edge=0.6, size=SMALL)


def draw_with_roots(canvas):
    """Draws a step of stage 18."""
    canvas.text(170, 12, "18: a root in each of 16 steps", bold=True)
    canvas.box(50, 34, 240, 226, fill=0.03)
    canvas.text(60, 48, "step k", ha="left")
    chain(canvas, 180, (44, 150, "pivot d of column k", BLUE), (88, 150, "its root: 1 / √d", ORANGE),
          (132, 150, "column k times 1 / √d", GREEN), (176, 150, "to shared memory", BLUE), (220, 150, "subtract multiples", BLUE),
          (282, 150, "pivot of column k + 1", INK))
    canvas.text(180, 322, "…", bold=True)
    canvas.text(180, 348, "after 16 steps: L and L⁻¹", SMALL)


def draw_without(canvas):
    """Draws a step of stage 19, and the roots at the end."""
    canvas.text(170, 12, "19: all 16 roots at the end", bold=True)
    canvas.box(10, 34, 320, 182, fill=0.03)
    canvas.text(20, 48, "step k", ha="left")
    chain(canvas, 244, (44, 150, "pivot d of column k", BLUE), (88, 150, "1 / d", GREEN), (132, 150, "own element times 1 / d", GREEN),
          (176, 150, "subtract multiples", BLUE), (238, 150, "pivot of column k + 1", INK))
    canvas.box(21, 84, 130, 36, "column k, as it is,\nto shared memory", BLUE, 0.32, edge=0.6, size=SMALL)
    canvas.arrow((86, 120), (168, 186), width=1.4)
    canvas.text(244, 276, "…", bold=True)
    chain(canvas, 170, (290, 300, "16 roots of 16 lanes, at once: 1 / √d", ORANGE), (334, 300, "scale columns of L and rows of L⁻¹", GREEN))


def draw(canvas):
    """Draws stage 18 on the left or above, and stage 19 on the right or below."""
    for panel, draw_one in zip(canvas.panels(2), (draw_with_roots, draw_without)):
        draw_one(panel)
