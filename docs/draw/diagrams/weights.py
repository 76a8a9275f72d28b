"""The weights of the adjoint sweep of local volatility, which spread from one point over the grid."""

import math

from draw import pricing
from draw.canvas import BLUE, INK, ORANGE

MARKET = pricing.Market(num_x=64, num_y=48, num_t=48)
EARLY, LAST = 8, MARKET.num_t - 1
FIELDS = {steps: pricing.weights(MARKET, steps) for steps in (EARLY, LAST)}
LEVELS = [-7, -6, -5, -4, -3, -2]  # decimal logarithms of the weights
X_MAX = 0.12

TITLE = "The adjoint weights after some and after all steps"
HEIGHT = {"wide": 298, "narrow": 610}
ALTERNATIVE = (
    "Two heat maps over the spot price x and the logarithm of the volatility y, with levels a factor of "
    f"ten apart. After {EARLY} steps the weights lie around the spot and today's volatility; after all "
    f"{LAST} they have spread over the grid, the largest of them at the smallest x. Some at high "
    "volatility are negative.")
CAPTION = (
    f"z after {EARLY} and after all {LAST} steps of the sweep, on a grid of 64 × 48 points, a cell each. "
    "Each darker level is a factor of ten, starting at 1e-7. Orange weights are negative: at high volatility, "
    "a Crank–Nicolson step reverses the sign of short waves instead of damping them. The dot marks the point "
    "where the sweep started, with a single 1. (Computed by docs/draw/pricing.py when this page was built.)")


def field(canvas, name, values):
    """Draws a heat map with its axes."""
    left, top, width, height = 40, 28, 286, 230
    canvas.text(left + width / 2, 12, name, bold=True)
    step_x, step_y = MARKET.x[2] - MARKET.x[1], MARKET.y[1] - MARKET.y[0]
    shown = sum(x <= X_MAX for x in MARKET.x)
    low, high = MARKET.y[0] - step_y / 2, MARKET.y[-1] + step_y / 2

    def across(x):
        return left + width * x / (MARKET.x[shown - 1] + step_x / 2)

    def down(y):
        return top + height * (high - y) / (high - low)

    for sign, colour in ((1, BLUE), (-1, ORANGE)):
        logarithms = [[math.log10(max(sign * values[i][j], 1e-30)) for i in range(shown)]
                      for j in range(MARKET.num_y)]
        canvas.cells([across(max(MARKET.x[1] + (i - 1.5) * step_x, 0)) for i in range(shown + 1)],
                     [down(low + j * step_y) for j in range(MARKET.num_y + 1)], logarithms, LEVELS, colour)
    canvas.frame((left, top, width, height), across, (0, 0.03, 0.06, 0.09), "spot price x",
                 down, (-8, -4, 0, 4), "log-volatility y")
    canvas.dot(across(MARKET.s0), down(MARKET.y[MARKET.iy]), 3, INK)


def draw(canvas):
    """Draws both panels."""
    for panel, steps in zip(canvas.panels(2), FIELDS):
        field(panel, f"after {steps} steps" if steps < LAST else "at maturity", FIELDS[steps])
