"""The iterations of both forms of the triangular solve and their flow dependences, from the output of `slice --report`."""

import json
import pathlib

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Iterations of the two forms and their dependences"
HEIGHT = {"wide": 296, "narrow": 592}
ALTERNATIVE = (
    "Two triangles of points, i downwards and j to the right, with n = 5. First form: row i has the points j below i, and "
    "a division at its end, on the diagonal. Along each row an arrow leads from point to point, through s, and into the "
    "division. From the division of row j an arrow leads down to each later point of column j, through x(j). Second form: "
    "row i begins with the division on the diagonal, and has the points j above i. From it an arrow leads to each point "
    "of its row, through x(i). Down each column an arrow leads from point to point, through b(j), and into the division; "
    "no arrow leads from one point of a row to the next.")
CAPTION = (
    "Both parts show n = 5. A square is a division, and a dot is a multiplication and a subtraction. Each arrow leads from "
    "the iteration that writes a value to an iteration that reads it. First form: the iterations of a row depend on each "
    "other and on all rows above. Second form: an iteration of a row depends only on its division and on iterations above "
    "it, so all dots of a row can run concurrently.")

NESTS = json.loads((pathlib.Path(__file__).parents[2] / "proving" / "forms.json").read_text())["nests"]
AT = 44  # pixels between two points
ROOM = 8  # margin around a point in pixels


def place(point):
    """The position of a point. A point that belongs only to the outer loop is on the diagonal."""
    i, j = (*point, *point)[:2]
    return 82 + AT * j, 66 + AT * i


def bend(start, end):
    """The curvature of an arrow that avoids the points between its ends."""
    steps = max(abs(end[0] - start[0]), abs(end[1] - start[1])) / AT
    if steps < 1.5:
        return 0
    return (1 if end[0] == start[0] else -1) * 2 * (8 + 2.5 * steps) / (steps * AT)


def draw_arrow(canvas, start, end, colour):
    """Draws an arrow from the edge of one point to the edge of another. Long arrows are curved."""
    rad = bend(start, end)
    canvas.arrow(*shortened(start, end, rad), colour, 1, bend=rad)


def shortened(start, end, rad):
    """The ends of an arrow, moved outside of the points. The ends of a curved arrow are also moved sideways."""
    length = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    x, y = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    aside = 5 if rad else 0
    side = (-aside, 0) if x == 0 else (0, -aside)
    return ((start[0] + ROOM * x + side[0], start[1] + ROOM * y + side[1]),
            (end[0] - ROOM * x + side[0], end[1] - ROOM * y + side[1]))


def draw_form(canvas, nest, title, chain):
    """Draws the points of a form and its dependences. The dependences through the variable `chain` have another colour."""
    canvas.text(170, 12, title, bold=True)
    for k in range(nest["sizes"]["n"]):
        canvas.text(82 + AT * k, 34, f"{k}", SMALL)
        canvas.text(46, 66 + AT * k, f"{k}", SMALL)
    canvas.text(46, 34, "i ↓  j →", SMALL)
    for arrow in nest["arrows"]:
        start, end = (place(point) for _, point in (arrow["source"], arrow["sink"]))
        if start != end and not begins(nest, arrow):
            draw_arrow(canvas, start, end, ORANGE if arrow["array"] == chain else BLUE)
    for statement in nest["statements"]:
        for x, y in map(place, statement["points"]):
            if len(statement["loops"]) == 2:
                canvas.dot(x, y, 3.5)
            else:
                canvas.box(x - 5, y - 5, 10, 10, fill=1)


def begins(nest, arrow):
    """Whether an arrow begins at a statement that only sets a sum to zero. This statement depends on nothing and is not drawn."""
    sources = {each["source"][0] for each in nest["arrows"]} - {each["sink"][0] for each in nest["arrows"]}
    return arrow["source"][0] in sources


def draw(canvas):
    """Draws two panels with the keys of their colours."""
    what = zip(canvas.panels(2), NESTS, ("first form, row by row", "second form, column by column"),
               (("s", "x(j)"), ("b", "x(i)")))
    for panel, nest, title, (chain, solved) in what:
        draw_form(panel, nest, title, chain)
        panel.key(96, 280, (BLUE, 0.9, f"through {solved}"),
                  (ORANGE, 0.9, "through s" if chain == "s" else "through b(j)"), gap=24)
