"""The weights along x of one, two, three and twelve steps of advection; stage 15 applies twelve steps as one."""

from draw.canvas import BLUE, GREEN, SMALL

TITLE = "Steps convolved to a filter"
HEIGHT = {"wide": 384, "narrow": 384}
COURANT, REACH = 0.25, 12
UP = 64  # pixels per unit of weight
ALTERNATIVE = (
    "Four charts of weights for neighbours from 12 cells before a cell to 12 cells after it. After one step there "
    "are three weights, after two steps five, and after twelve steps 25, most of which are almost zero.")
CAPTION = (
    "The weights along x if the field moves by a quarter of a cell per step, as in large. Each step adds a tap at both ends, "
    "but the outer taps are too small to be seen. After twelve steps, the mean position of the weights is −3, because the "
    "field has moved by three cells.")


def convolved(steps):
    """The weights of several steps, by the offset of the neighbour."""
    step = {-1: COURANT * (COURANT + 1) / 2, 0: 1 - COURANT * COURANT, 1: COURANT * (COURANT - 1) / 2}
    weights = {0: 1}
    for _ in range(steps):
        weights = {j: sum(step[k] * weights.get(j - k, 0) for k in step) for j in range(min(weights) - 1, max(weights) + 2)}
    return weights


def draw(canvas):
    """Draws a row of bars for each number of steps."""
    left, unit = (110, 22) if canvas.is_wide else (60, 10.8)
    for steps, bottom in ((1, 72), (2, 156), (3, 240), (REACH, 324)):
        weights = convolved(steps)
        canvas.text(4, bottom - 16, f"{steps} step" + "s" * (steps > 1), bold=True, ha="left")
        canvas.text(4, bottom, f"{len(weights)} taps", SMALL, ha="left")
        canvas.line((left, bottom), (left + unit * (2 * REACH + 1), bottom), width=0.5)
        for j, weight in weights.items():
            x = left + unit * (j + REACH)
            colour = GREEN if steps == REACH else BLUE
            canvas.box(x + 1, bottom - max(weight, 0) * UP, unit - 2, abs(weight) * UP, colour=colour, fill=0.5, edge=0.5)
            canvas.line((x + unit / 2, bottom), (x + unit / 2, bottom + 3), width=0.5)
    canvas.text(left + unit * 15, 56, "0.16, 0.94 and −0.09", SMALL, ha="left")
    for j in range(-REACH, REACH + 1, 3):
        canvas.text(left + unit * (j + REACH + 0.5), 350, f"{j:+d}".replace("-", "−") if j else "cell", SMALL)
    canvas.text(left + unit * (REACH + 0.5), 370, "neighbours along x", SMALL)
