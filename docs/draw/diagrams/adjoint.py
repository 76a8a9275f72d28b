"""Stage 13 of local volatility: the product of steps, computed from the right with one sweep per option, and from the
left with a single sweep."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "One sweep per option, or one transposed sweep for all"
HEIGHT = {"wide": 275, "narrow": 560}
ALTERNATIVE = (
    "Two parts. In the first one (stages 00 to 12), each option starts with a payoff at maturity and goes through all steps "
    "to today, and one point of its last grid is read. In the second one (stage 13), a single grid starts with this one point "
    "today and goes through the transposed steps to maturity. It then contains the weights, which are multiplied by each "
    "payoff.")
CAPTION = (
    "Time runs to the right, from today to maturity. Blue grids contain values, and orange grids contain weights.")

STEPS = ("today", "", "", "maturity")


def grid(canvas, x, y, colour, fill=0.12, point=False):
    """Draws a grid; if `point` is set, one point of the grid is marked."""
    canvas.box(x, y, 40, 40, colour=colour, fill=fill)
    for m in range(1, 4):
        canvas.line((x + 10 * m, y), (x + 10 * m, y + 40), width=0.4, opacity=0.5)
        canvas.line((x, y + 10 * m), (x + 40, y + 10 * m), width=0.4, opacity=0.5)
    if point:
        canvas.dot(x + 15, y + 25, 4, colour)


def draw_forwards(canvas):
    """Draws one row per option."""
    canvas.text(170, 12, "S applied to each option's grid", bold=True)
    for k in range(3):
        y = 60 + 76 * k
        for g in range(4):
            grid(canvas, 52 + 62 * g, y, BLUE, point=g == 0)
            if g < 3:
                canvas.arrow((52 + 62 * (g + 1), y + 20), (92 + 62 * g, y + 20), BLUE, 1.4)
        canvas.text(284, y + 20, f"payoff {k}", SMALL, ha="left")
        canvas.text(44, y + 20, f"price {k}", SMALL, ha="right")
    for g, name in enumerate(STEPS):
        canvas.text(72 + 62 * g, 40, name, SMALL)


def draw_transposed(canvas):
    """Draws one row, and the payoffs at its end."""
    canvas.text(170, 12, "Sᵀ applied to one grid of weights", bold=True)
    y = 136
    for g in range(4):
        grid(canvas, 10 + 56 * g, y, ORANGE, 0 if g == 0 else 0.06 + 0.07 * g, g == 0)
        if g < 3:
            canvas.arrow((50 + 56 * g, y + 20), (66 + 56 * g, y + 20), ORANGE, 1.4)
        canvas.text(30 + 56 * g, 40, STEPS[g], SMALL)
    canvas.text(30, y + 56, "the point\nthat is read", SMALL)
    canvas.text(198, y + 50, "weights", SMALL)
    for k in range(3):
        canvas.box(256, 66 + 76 * k, 78, 28, f"· payoff {k}", GREEN, 0.16, size=SMALL)
        canvas.arrow((219, y + 20), (255, 80 + 76 * k), GREEN, 1.2)
        canvas.text(295, 104 + 76 * k, f"= price {k}", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_forwards, draw_transposed)):
        draw_one(panel)
