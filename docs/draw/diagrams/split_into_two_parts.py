"""Stage 10 of the sliced product: an f32 element as the sum of two tf32 elements, digit by digit, and the products
that are computed."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "An f32 element as two tf32 parts, and a product as three"
HEIGHT = {"wide": 262, "narrow": 500}
DIGITS, KEPT = 24, 11  # significant binary digits of f32 and of tf32
SIGNIFICAND = round(0.7 * 2 ** DIGITS)
HIGH = round(SIGNIFICAND / 2 ** (DIGITS - KEPT))
REST = HIGH * 2 ** (DIGITS - KEPT) - SIGNIFICAND  # positive, because the high part was rounded up
ALTERNATIVE = (
    "First: the 24 binary digits of 0.7 in f32, its high part of 11 digits, and the low part, which is negative "
    "and contains 11 digits of the rest. Second: the product of two such sums as four products. Low by low is "
    "crossed out.")
CAPTION = (
    "First: the digits of 0.7 in f32. The rest after the high part has twelve digits and a sign. The low part is this rest, rounded "
    "to eleven digits, with an error of at most 2u. Second: the four products, not to scale, with the maximum of each relative to the "
    "largest, and the order of additions.")
CELL = 12


def digits(canvas, number, first, count, colour, sign=""):
    """Draws `count` binary digits of an element; the first one is at position `first`."""
    for n, digit in enumerate(f"{number:0{count}b}"):
        canvas.box(CELL * (first + n), 0, CELL, 20, digit, colour, 0.35, edge=0.5, size=SMALL)
    if sign:
        canvas.text(CELL * first - 7, 10, sign, bold=True)


def draw_digits(canvas):
    """Draws the element, with its high part and its low part below it."""
    canvas.text(170, 12, "0.7 in f32, and its two parts", bold=True)
    here = canvas.part(34, 0)
    for y, name in ((50, "x"), (108, "h"), (166, "l")):
        here.text(-22, y + 10, name, bold=True)
    digits(here.part(0, 50), SIGNIFICAND, 0, DIGITS, BLUE)
    digits(here.part(0, 108), HIGH, 0, KEPT, GREEN)
    digits(here.part(0, 166), REST // 2 + REST % 2, KEPT + 1, KEPT, ORANGE, "−")
    here.box(CELL * (DIGITS - 1), 166, CELL, 20, edge=0.5, dashed=True)
    here.line((CELL * KEPT, 44), (CELL * KEPT, 194), width=0.8, dashed=True)
    here.text(CELL * KEPT / 2, 40, f"{KEPT} digits", SMALL)
    here.text(CELL * (DIGITS + KEPT) / 2, 40, f"{DIGITS - KEPT} digits", SMALL)
    here.text(CELL * KEPT + 8, 118, "rounded up: the rest is negative", SMALL, ha="left")
    here.text(CELL * (KEPT + 1 + KEPT / 2), 204, f"{KEPT} digits", SMALL)
    here.text(CELL * DIGITS, 222, "lost", SMALL, ha="right")
    here.line((CELL * (DIGITS - 0.5), 188), (CELL * (DIGITS - 0.5), 214), width=0.6)
    here.text(CELL * KEPT - 6, 222, "the sign saves a digit", SMALL, ha="right")
    here.line((CELL * (KEPT + 0.5), 180), (CELL * (KEPT + 0.5), 222), (CELL * KEPT - 2, 222), width=0.6)


def draw_products(canvas):
    """Draws the four parts of a product."""
    canvas.text(170, 12, "the product of a and b", bold=True)
    left, top, long, short = 60, 66, 140, 76
    for x, width, name in ((0, long, "high"), (long, short, "low")):
        canvas.text(left + x + width / 2, top - 12, f"{name} of b", SMALL)
        canvas.text(left - 10, top + 0.8 * x + 0.4 * width, f"{name} of a", SMALL, ha="right")
    high, low = 0.8 * long, 0.8 * short
    canvas.box(left, top, long, high, "added last", GREEN, 0.4)
    canvas.box(left + long, top, short, high, "second,\n≤ 2⁻¹¹", PURPLE, 0.3, size=SMALL)
    canvas.box(left, top + high, long, low, "added first, ≤ 2⁻¹¹", PURPLE, 0.3, size=SMALL)
    canvas.box(left + long, top + high, short, low, dashed=True)
    canvas.line((left + long, top + high), (left + long + short, top + high + low), width=0.8)
    canvas.text(left + long + short + 6, top + high + low / 2, "omitted,\n≤ 2⁻²²", SMALL, ha="left")


def draw(canvas):
    """Draws the digits, and the products."""
    for panel, draw_one in zip(canvas.panels(2), (draw_digits, draw_products)):
        draw_one(panel)
