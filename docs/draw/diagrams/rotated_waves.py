"""A wave over a hundred steps in stage 18 of advection, and a field transformed to waves and back."""

import cmath

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "A hundred steps of a wave, and of a field"
HEIGHT = {"wide": 336, "narrow": 650}
COURANT, WAVE, CELLS, STEPS = 0.25, 96, 512, 100  # the Courant number and the cells of the data set small, and one of
                                                  # its waves along x
RADIUS = 122
ALTERNATIVE = (
    "First: powers of the symbol of a wave in the complex plane. They form a spiral of almost four turns from 1 "
    "towards the centre, and the powers that repeated squaring uses are emphasised. Second: two ways from a field "
    "to a later field, by m steps or by two transforms.")
CAPTION = (
    "First: the wave along x with k = 96 of 512, for c = 0.25 as in small; the labels are powers of λ(k). Power 100 is the "
    "product of powers 64, 32 and 4, which come from repeated squaring. Second, with k along x and l along y: the cost of the "
    "path at the bottom does not grow with m, apart from a few squarings.")


def symbol():
    """The factor by which a step multiplies the wave."""
    c, angle = COURANT, 2 * cmath.pi * WAVE / CELLS
    return c * (c + 1) / 2 * cmath.exp(-1j * angle) + 1 - c * c + c * (c - 1) / 2 * cmath.exp(1j * angle)


def draw_wave(canvas):
    """Draws the powers of the symbol."""
    canvas.text(170, 12, "a wave: powers 0 to 100 of a number", bold=True)
    here = canvas.part(170, 38 + RADIUS)

    def point(power, stretch=1.0):
        value = symbol() ** power * stretch
        return RADIUS * value.real, -RADIUS * value.imag

    here.loop(0, 0, RADIUS, 0, 360, INK, 0.6)
    here.line((-RADIUS - 8, 0), (RADIUS + 8, 0), width=0.4)
    here.line((0, -RADIUS - 8), (0, RADIUS + 8), width=0.4)
    here.line(*(point(power / 4) for power in range(4 * STEPS + 1)), colour=BLUE, width=0.6, opacity=0.6)
    for power in range(STEPS + 1):
        here.dot(*point(power), 1.4, BLUE)
    for power in (1, 2, 4, 8, 16, 32, 64):
        here.dot(*point(power), 3.6, ORANGE)
        length = abs(symbol()) ** power
        aim = 1 + 13 / RADIUS if power < 8 else length + (-14 if power < 32 else 13) / RADIUS  # at a distance from the
                                                                                               # circle and from the
                                                                                               # other windings
        here.text(*point(power, aim / length), f"{power}", SMALL)
    here.dot(*point(STEPS), 4.2, GREEN)
    here.text(*point(STEPS, 0.6), f"{STEPS}", SMALL, bold=True)
    here.text(RADIUS + 12, -1, "0", SMALL, ha="left")
    canvas.key(60, 308, (BLUE, 0.8, "a step"), (ORANGE, 0.8, "a square"), (GREEN, 0.8, "64 · 32 · 4"))


def draw_field(canvas):
    """Draws both ways of computing the final field from the initial one: by steps, and by waves."""
    canvas.text(170, 12, "a field: by its steps, or by its waves", bold=True)
    left, right, top, bottom, width, height = 4, 246, 60, 206, 90, 52
    canvas.box(left, top, width, height, "field", BLUE, 0.2)
    canvas.box(right, top, width, height, "field after\nm steps", BLUE, 0.2)
    for x, words in ((left, "waves"), (right, "waves after\nm steps")):
        canvas.box(x, bottom, width, height, words, PURPLE, 0.2)
    canvas.arrow((left + width + 2, top + 26), (right - 2, top + 26), INK, 1.2, dashed=True)
    canvas.text(170, top + 14, "m steps,", SMALL)
    canvas.text(170, top + 39, "one after the other", SMALL)
    canvas.arrow((left + 45, top + height + 2), (left + 45, bottom - 2), GREEN, 1.6)
    canvas.text(left + 54, 158, "transform", SMALL, ha="left")
    canvas.arrow((left + width + 2, bottom + 26), (right - 2, bottom + 26), ORANGE, 1.6)
    canvas.text(170, bottom + 14, "each wave times", SMALL)
    canvas.text(170, bottom + 40, "(λ(k) λ(l))")
    canvas.text(202, bottom + 36, "m", SMALL)
    canvas.arrow((right + 45, bottom - 2), (right + 45, top + height + 2), GREEN, 1.6)
    canvas.text(right + 36, 158, "inverse", SMALL, ha="right")


def draw(canvas):
    """Draws the wave on the left or above, and the field on the right or below."""
    for panel, draw_one in zip(canvas.panels(2), (draw_wave, draw_field)):
        draw_one(panel)
