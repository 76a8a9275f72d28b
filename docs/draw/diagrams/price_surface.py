"""The grid of an option: the payoff at maturity, and the values today."""

from draw import pricing
from draw.canvas import ORANGE

STRIKE = 0.03
MARKET = pricing.Market(num_x=96, num_y=96, num_t=48)
TODAY = pricing.surface(MARKET, STRIKE)
PRICE = TODAY[MARKET.ix][MARKET.iy]
LEVELS = [0.001, *(0.01 * n for n in range(1, 12))]
X_MAX = 0.12

TITLE = "The value of an option, at maturity and today"
HEIGHT = {"wide": 298, "narrow": 610}
ALTERNATIVE = (
    "Two heat maps over the spot price x and the logarithm of the volatility y. At maturity the value is "
    f"0 up to the strike of {STRIKE} and grows with x alone. Today the value also grows with the volatility, most "
    f"of all near the strike. At the spot of {MARKET.s0} and today's volatility it is {PRICE:.4f}, which is the "
    "price.")
CAPTION = (
    f"One option with strike {STRIKE}, on a grid of 96 × 96 points with 48 points in time. Lines are at 0.001, 0.01, "
    f"0.02, 0.03 … The dot marks the price, {PRICE:.4f} (computed by docs/draw/pricing.py when this page was "
    "built).")


def field(canvas, name, values):
    """Draws a heat map with its axes."""
    left, top, width, height = 40, 28, 286, 230
    canvas.text(left + width / 2, 12, name, bold=True)
    shown = [i for i, x in enumerate(MARKET.x) if x <= X_MAX]
    low, high = MARKET.y[0], MARKET.y[-1]

    def across(x):
        return left + width * x / MARKET.x[shown[-1]]

    def down(y):
        return top + height * (high - y) / (high - low)

    canvas.heights([across(MARKET.x[i]) for i in shown], [down(y) for y in MARKET.y],
                   [[values[i][j] for i in shown] for j in range(MARKET.num_y)], LEVELS)
    canvas.frame((left, top, width, height), across, (0, 0.03, 0.06, 0.09), "spot price x",
                 down, (-8, -4, 0, 4), "log-volatility y")
    canvas.dot(across(MARKET.s0), down(MARKET.y[MARKET.iy]), 4, ORANGE)


def draw(canvas):
    """Draws both panels."""
    for panel, name, values in zip(canvas.panels(2), ("at maturity: the payoff", "today: the price surface"),
                                   (pricing.payoff(MARKET, STRIKE), TODAY)):
        field(panel, name, values)
