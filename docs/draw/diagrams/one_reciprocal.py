"""The dependency chain of two leading steps in stages 13 and 14 of Durbin-Levinson, in cycles as given on their pages
(f64)."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Two coefficients, with two reciprocals and with one"
HEIGHT = {"wide": 230, "narrow": 252}
LOOKS = {"fetch": (BLUE, 0.3, "values to all lanes"), "multiply": (GREEN, 0.3, "multiply-adds"),
         "divide": (ORANGE, 0.55, "reciprocal"), "quotient": (PURPLE, 0.3, "quotients")}
STEP = (("fetch", 30), ("quotient", 24), ("multiply", 16), ("divide", 90))
PAIR = (("multiply", 24), ("divide", 66), ("quotient", 32), ("fetch", 30), ("multiply", 16))
ALTERNATIVE = (
    "Two dependency chains in time. In stage 13, each of two steps broadcasts a value and computes a quotient and "
    "a long reciprocal. In stage 14, both steps together need one shorter reciprocal, two quotients and one "
    "broadcast, and take half of the time.")
CAPTION = (
    "Two steps of the leading warp in f64, to the scale of the cycles counted below and on the page of stage 13. In stage 13, a step "
    "computes the reciprocal that the next step needs.")


def draw_chain(canvas, name, unit, parts, known):
    """Draws operations one after the other, and below them the times at which coefficients become available."""
    canvas.text(0, 0, f"{name}: {sum(cycles for _, cycles in parts)} cycles", ha="left", bold=True)
    x = 0
    for n, (kind, cycles) in enumerate(parts):
        colour, fill, words = LOOKS[kind]
        canvas.box(x, 16, unit * cycles - 1, 30, words if kind == "divide" else "", colour, fill, edge=0.5, size=SMALL)
        x += unit * cycles
        if n in known:
            canvas.arrow((x, 66), (x, 47), PURPLE, 1.3)
            canvas.text(x, 75, known[n], SMALL)
    canvas.line((x, 8), (x, 60), colour=INK, dashed=True)


def draw(canvas):
    """Draws stage 13 above stage 14."""
    unit = (canvas.width - 12) / (2 * sum(cycles for _, cycles in STEP))
    draw_chain(canvas.part(6, 12), "13: one step after the other", unit, 2 * STEP, {1: "α₁", 5: "α₂"})
    draw_chain(canvas.part(6, 110), "14: two steps at once", unit, PAIR, {2: "α₁ and α₂"})
    key = canvas.part(canvas.width / 2 - (265 if canvas.is_wide else 140), 218)
    looks = list(LOOKS.values())
    if canvas.is_wide:
        key.key(0, 0, *looks)
    else:
        key.key(0, 0, *looks[:2])
        key.key(0, 20, *looks[2:])
