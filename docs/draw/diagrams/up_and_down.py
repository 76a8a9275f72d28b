"""Vectors of pairs and partial sums in stage 04 of Durbin-Levinson."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "Vectors from both ends, and a partial sum for each lane"
HEIGHT = {"wide": 300, "narrow": 600}
K, LANES = 18, 4
FIRST = LANES  # the first element of the block that is drawn, which is the second block
CELL, LANE = 18, 40  # pixels per element in the row, and per element in a vector
PITCH, LINE = 14, 25  # pixels between additions in a dependency chain, and between chains
ALTERNATIVE = (
    "First: a row of 18 elements. Elements 4 to 7 are one vector, their mirror images 10 to 13 are another one, "
    "which is reversed, and each lane updates a pair. Second: one chain of 16 additions, or eight chains of two "
    "and five more additions.")
CAPTION = (
    "First: row k = 18 with vectors of four lanes; a vector of 64 bytes has eight lanes in f64. The new high is reversed again before"
    " it is stored. Second: each circle is an addition; two blocks contribute 16 products. The additions below the dashed line occur "
    "once per step, whatever the length of the row.")


def draw_vectors(canvas):
    """Draws the row, and a vector from either side of the row."""
    mirror = K - FIRST - LANES
    canvas.text(4, 12, "y", ha="left", bold=True)
    for i in range(K):
        colour, fill = (BLUE, 0.5) if FIRST <= i < FIRST + LANES else (ORANGE, 0.5) if mirror <= i < mirror + LANES else \
            (INK, 0.2) if 2 * LANES <= i < K - 2 * LANES else (INK, 0)
        canvas.box(16 + CELL * i, 2, CELL - 1.5, 20, f"{i}", colour, fill, edge=0.5, size=SMALL)
    left, words = 120, 108
    rows = ((62, "high, as loaded", ORANGE, range(mirror, mirror + LANES)),
            (116, "high, reversed", ORANGE, range(mirror + LANES - 1, mirror - 1, -1)), (142, "low", BLUE, range(FIRST, FIRST + LANES)))
    for y, name, colour, numbers in rows:
        canvas.text(words, y + 11, name, SMALL, ha="right")
        for lane, number in enumerate(numbers):
            canvas.box(left + LANE * lane, y, LANE - 3, 22, f"{number}", colour, 0.5, edge=0.5, size=SMALL)
    for lane in range(LANES):
        canvas.line((left + LANE * (lane + 0.5) - 1, 85), (left + LANE * (LANES - lane - 0.5) - 1, 115), colour=ORANGE)
        canvas.text(left + LANE * (lane + 0.5) - 1, 54, f"lane {lane}", SMALL)
    canvas.text(left + LANE * LANES + 10, 100, "shuffle", SMALL, ha="left")
    canvas.text(170, 184, "each lane: low + α · high, and high + α · low", SMALL)
    canvas.key(16, 214, (BLUE, 0.5, "low"), (ORANGE, 0.5, "high"), (INK, 0.2, "remaining pair"))


def draw_chain(canvas):
    """Draws the sum of stage 03."""
    canvas.text(0, -26, "03: one sum", SMALL)
    for n in range(4 * LANES):
        canvas.dot(0, PITCH * n, 4, GREEN)
        if n:
            canvas.line((0, PITCH * (n - 1)), (0, PITCH * n), colour=GREEN)


def draw_lanes(canvas):
    """Draws the sums of stage 04, and the additions that combine them."""
    canvas.text(LINE * (LANES - 0.5), -26, "04: eight sums", SMALL)
    for n, words in enumerate(("of low", "of high")):
        canvas.text(LINE * (LANES * (n + 0.5) - 0.5), -11, words, SMALL)
    for n in range(2 * LANES):
        x, last = LINE * n, (LINE * (n % LANES), 4 * PITCH)
        canvas.line((x, 0), (x, PITCH), last, colour=GREEN)
        canvas.dot(x, 0, 4, GREEN)
        canvas.dot(x, PITCH, 4, GREEN)
    canvas.line((-12, 2 * PITCH - 3), (LINE * 2 * LANES - 4, 2 * PITCH - 3), width=0.7, dashed=True)
    for lane in range(LANES):
        here, one = (LINE * lane, PITCH * (5.5 + lane)), (LINE * lane, 4 * PITCH)
        canvas.line(one, here, colour=PURPLE)
        canvas.dot(*one, 4, PURPLE)
        canvas.dot(*here, 4, PURPLE)
        if lane:
            canvas.line((LINE * (lane - 1), PITCH * (4.5 + lane)), here, colour=PURPLE)
    canvas.text(LINE * 4.2, PITCH * 6.5, "once per step", SMALL, ha="left")


def draw(canvas):
    """Draws vectors on the left or above, and sums beside or below them."""
    vectors, sums = canvas.panels(2)
    vectors.text(170, 12, "04: a vector from each end", bold=True)
    draw_vectors(vectors.part(0, 42))
    sums.text(170, 12, "additions, later ones further down", bold=True)
    draw_chain(sums.part(40, 70))
    draw_lanes(sums.part(140, 70))
