"""What stands between one pivot and the next one in a square, in stages 18 and 19 of Cholesky."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A root in each turn, and all roots at the end"
HEIGHT = {"wide": 372, "narrow": 744}
HIGH = 26
ALTERNATIVE = (
    "Two flows from top to bottom. Stage 18: in turn k the pivot's reciprocal root is taken, column k is multiplied by it, then "
    "handed on through shared memory, and its multiples are taken off the rest; each waits for the one before, and behind the last "
    "one the next pivot is known. Stage 19: column k is handed on as it is, and meanwhile the reciprocal of its pivot is taken and "
    "each lane multiplies its own number by it; both meet where multiples are taken off. Behind sixteen turns all sixteen roots are "
    "taken at once, and scale L and its inverse.")
CAPTION = (
    "From a pivot to the next one. In stage 19 a column can be handed on before its pivot's reciprocal is known, and the sixteen "
    "roots, of a lane each, stand once at the end of the chain.")


def chain(canvas, x, *boxes):
    """Boxes below each other, an arrow from each to the next: (y, width, words, colour)."""
    for (y, _, _, _), (to, _, _, _) in zip(boxes, boxes[1:]):
        canvas.arrow((x, y + HIGH), (x, to - 1), width=1.4)
    for y, width, words, colour in boxes:
        canvas.box(x - width / 2, y, width, HIGH, words, colour, 0.32 if colour != INK else 0.06, edge=0.6, size=SMALL)


def draw_with_roots(canvas):
    """A turn of stage 18."""
    canvas.text(170, 12, "18: a root in each of 16 turns", bold=True)
    canvas.box(50, 34, 240, 226, fill=0.03)
    canvas.text(60, 48, "turn k", ha="left")
    chain(canvas, 180, (44, 150, "pivot d of column k", BLUE), (88, 150, "its root: 1 / √d", ORANGE),
          (132, 150, "column k times 1 / √d", GREEN), (176, 150, "to shared memory", BLUE), (220, 150, "multiples off the rest", BLUE),
          (282, 150, "pivot of column k + 1", INK))
    canvas.text(180, 322, "…", bold=True)
    canvas.text(180, 348, "behind 16 turns: L and L⁻¹", SMALL)


def draw_without(canvas):
    """A turn of stage 19, and the end."""
    canvas.text(170, 12, "19: all 16 roots at the end", bold=True)
    canvas.box(10, 34, 320, 182, fill=0.03)
    canvas.text(20, 48, "turn k", ha="left")
    chain(canvas, 244, (44, 150, "pivot d of column k", BLUE), (88, 150, "1 / d", GREEN), (132, 150, "own number times 1 / d", GREEN),
          (176, 150, "multiples off the rest", BLUE), (238, 150, "pivot of column k + 1", INK))
    canvas.box(21, 84, 130, 36, "column k, as it is,\nto shared memory", BLUE, 0.32, edge=0.6, size=SMALL)
    canvas.arrow((86, 120), (168, 186), width=1.4)
    canvas.text(244, 276, "…", bold=True)
    chain(canvas, 170, (290, 300, "16 roots of 16 lanes, at once: 1 / √d", ORANGE), (334, 300, "scale columns of L and rows of L⁻¹", GREEN))


def draw(canvas):
    """Stage 18 on the left or above, stage 19 beside or below it."""
    for panel, draw_one in zip(canvas.panels(2), (draw_with_roots, draw_without)):
        draw_one(panel)
