"""The slices of a product of matrices and the elements that one slice accesses, from the output of `slice --report`."""

import json
import pathlib

from draw.canvas import BLUE, GREEN, INK, SMALL

TITLE = "Slices of the product, and the elements that one slice accesses"
HEIGHT = {"wide": 310, "narrow": 620}
ALTERNATIVE = (
    "First: a field of five by five results, i downwards and j to the right, cut into three slices of i, of two, two and "
    "one rows, and five slices of j, of one column each. They are numbered down the columns: 0, 1, 2 in the first, 3, 4, 5 "
    "in the second, and so on up to 14. Slice 4, rows 2 and 3 of column 1, is filled. Second: the arrays a on the left, b "
    "above and c in the corner between them. Slice 4 reads rows 2 and 3 of a, reads column 1 of b, and writes the elements "
    "of c in rows 2 and 3 of column 1.")
CAPTION = (
    "First part: the slices for n = 5, three slices of i and five slices of j, with their indices. Second part: the "
    "elements that slice 4 reads and writes, for all k. In each array, these elements fill a box, so the boxes are exact.")

NEST = json.loads((pathlib.Path(__file__).parents[2] / "proving" / "product.json").read_text())["nests"][0]
SHOWN = 4
N = NEST["sizes"]["n"]


def numbers():
    """Maps each iteration (i, j) to the index of its slice, from the data of a statement in the loops over i and j."""
    statement = next(each for each in NEST["statements"] if each["loops"] == ["i", "j"])
    return {tuple(point): e for point, e in zip(statement["points"], statement["slices"])}


def draw_slices(canvas):
    """Draws the iterations (i, j) in slices. Each slice has its index in its centre."""
    canvas.text(170, 12, "slices of (i, j)", bold=True)
    field, cell = canvas.part(74, 62), 42
    for k in range(N):
        field.text(cell * (k + 0.5), -12, f"{k}", SMALL)
        field.text(-14, cell * (k + 0.5), f"{k}", SMALL)
    field.text(-34, -12, "i ↓  j →", SMALL)
    held = {}
    for (i, j), e in numbers().items():
        held.setdefault(e, []).append((i, j))
    for e, points in held.items():
        (top, left), (bottom, right) = min(points), max(points)
        box = (cell * left + 2, cell * top + 2, cell * (right - left + 1) - 4, cell * (bottom - top + 1) - 4)
        field.box(*box, f"{e}", GREEN if e == SHOWN else INK, 0.45 if e == SHOWN else 0.08, size=12, bold=e == SHOWN)


def draw_array(canvas, name, colour, touched, words):
    """Draws the elements of an array. The elements that the slice accesses are filled."""
    cell = canvas.width / N
    for i in range(N):
        for j in range(N):
            is_touched = [i, j] in touched
            canvas.box(cell * j + 1, cell * i + 1, cell - 2, cell - 2, colour=colour if is_touched else INK,
                       fill=0.5 if is_touched else 0.06, edge=0)
    canvas.box(0, 0, canvas.width, canvas.width)
    canvas.text(*words, name, bold=True)


def draw_footprints(canvas):
    """Draws the arrays as in a product: a to the left of c, and b above c."""
    canvas.text(170, 12, f"elements that slice {SHOWN} accesses", bold=True)
    side, gap, left, top = 105, 14, 54, 36
    slice_shown = next(each for each in NEST["slices"]["each"] if each["number"] == SHOWN)
    reads, writes = slice_shown["reads"], slice_shown["writes"]
    draw_array(canvas.part(left, top + side + gap, side), "a", BLUE, reads["a"], (-14, side / 2))
    draw_array(canvas.part(left + side + gap, top, side), "b", BLUE, reads["b"], (side + 14, side / 2))
    draw_array(canvas.part(left + side + gap, top + side + gap, side), "c", GREEN, writes["c"], (side + 14, side / 2))
    canvas.key(108, 288, (BLUE, 0.5, "read"), (GREEN, 0.5, "written"), gap=24)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_slices, draw_footprints)):
        draw_one(panel)
