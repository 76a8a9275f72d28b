"""Stage 00 of local volatility: the dependences between options and time steps, and within a step."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "The iteration space of local volatility"
HEIGHT = {"wide": 326, "narrow": 650}
ALTERNATIVE = (
    "First: a row of grids for each option, with arrows from each time step to the next one and none between "
    "options. Second: the four half steps of a time step. In the explicit ones, points are independent; in the "
    "implicit ones, each column or row is a dependency chain.")
CAPTION = (
    "An arrow is a dependence. First: options are independent, and time steps follow each other. "
    "Second: two points of a half step may be computed at the same time if no arrow joins them. The index i, along x, "
    "runs downwards.")

AT = 19  # pixels between two points
POINTS = 5


def draw_options(canvas):
    """Draws grids over time, one row per option."""
    canvas.text(170, 12, "options and time steps", bold=True)
    for k, name in enumerate(("option 0", "option 1", "option 2")):
        top = 46 + 82 * k
        canvas.text(4, top + 26, name, SMALL, ha="left")
        for g in range(4):
            left = 60 + 73 * g
            canvas.box(left, top, 46, 46, colour=BLUE, fill=0.12)
            for m in range(1, 4):
                canvas.line((left + 11.5 * m, top), (left + 11.5 * m, top + 46), width=0.4, opacity=0.5)
                canvas.line((left, top + 11.5 * m), (left + 46, top + 11.5 * m), width=0.4, opacity=0.5)
            if g < 3:
                canvas.arrow((left + 73, top + 23), (left + 46, top + 23), ORANGE, 1.4)
    for g, name in enumerate(("g = 0, today", "", "", "maturity")):
        canvas.text(83 + 73 * g, 272, name, SMALL)
    canvas.text(170, 294, "no arrow between rows: options in parallel", SMALL)


def grid(canvas, name, note):
    """Draws the points of a grid, and the name of the half step."""
    canvas.text(80, 4, name, bold=True)
    for i in range(POINTS):
        for j in range(POINTS):
            canvas.dot(42 + AT * j, 26 + AT * i, 2.2)
    canvas.text(80, 122, note, SMALL)
    canvas.arrow((20, 26), (20, 60))
    canvas.text(12, 42, "i", SMALL)
    canvas.text(20, 70, "j →", SMALL)


def at(i, j):
    """The position of a point."""
    return 42 + AT * j, 26 + AT * i


def draw_step(canvas):
    """Draws the half steps of one time step."""
    canvas.text(170, 12, "one time step", bold=True)
    for index, (name, note) in enumerate((
            ("explicit x", "all points at once"), ("explicit y", "all points at once"),
            ("implicit x", "a chain for each j"), ("implicit y", "a chain for each i"))):
        part = canvas.part(10 + 165 * (index % 2), 40 + 150 * (index // 2))
        grid(part, name, note)
        if index < 2:
            x, y = at(2, 2)
            for d in (-1, 1):
                ends = ((x, y + AT * d), (x, y + 3 * d)) if index == 0 else ((x + AT * d, y), (x + 3 * d, y))
                part.arrow(*ends, ORANGE, 1.4)
        else:
            for chain in range(POINTS):
                ends = (at(0, chain), at(4, chain)) if index == 2 else (at(chain, 0), at(chain, 4))
                part.arrow(*ends, ORANGE, 1.2, both=True)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_options, draw_step)):
        draw_one(panel)
