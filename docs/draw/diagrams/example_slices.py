"""The slices of *example* in stage 01 of the sliced product, to scale, and the operands of one slice."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Fifteen slices of a product"
HEIGHT = {"wide": 372, "narrow": 372}
L, M, N = 1024, 2000, 777
ROWS, COLS = 205, 259  # rows and columns of a slice
SHOWN = 6
SCALE = 0.105
ALTERNATIVE = (
    "A on the left, B above, and C in the corner between them. C is divided into five by three slices, whose "
    "indices run down the columns. Slice 6 is filled, and so are the rows of A and the columns of B that it "
    "needs.")
CAPTION = (
    "Example in f32, to scale, in slices for 4 MiB. The digits of 6 in mixed radix are 1 and 1, because 6 = 1 + 5 · 1. The slice "
    "needs its rows of A and its columns of B along all of k.")


def draw(canvas):
    """Draws A on the left of C, and B above C."""
    gap, left, top = 12, (canvas.width - SCALE * (M + N)) / 2 + 2, 24
    a = canvas.part(left - gap / 2, top + SCALE * M + gap)
    b = canvas.part(left + SCALE * M + gap / 2, top)
    c = canvas.part(left + SCALE * M + gap / 2, top + SCALE * M + gap)
    down, across = -(-L // ROWS), -(-N // COLS)
    s0, s1 = SHOWN % down, SHOWN // down
    a.box(0, SCALE * ROWS * s0, SCALE * M, SCALE * ROWS, "205 rows of A", BLUE, 0.35, edge=0, size=SMALL)
    a.box(0, 0, SCALE * M, SCALE * L)
    a.text(-10, SCALE * L / 2, "i", SMALL)
    a.arrow((SCALE * M / 2 - 50, SCALE * L + 12), (SCALE * M / 2 + 50, SCALE * L + 12))
    a.text(SCALE * M / 2 + 60, SCALE * L + 12, "k", SMALL)
    b.box(SCALE * COLS * s1, 0, SCALE * COLS, SCALE * M, colour=ORANGE, fill=0.35, edge=0)
    b.text(SCALE * COLS * (s1 + 0.5), SCALE * M / 2, "259 columns of B", SMALL, rotation=270)
    b.box(0, 0, SCALE * N, SCALE * M)
    b.text(SCALE * N / 2, -10, "j", SMALL)
    b.arrow((-12, SCALE * M / 2 - 50), (-12, SCALE * M / 2 + 50))
    b.text(-12, SCALE * M / 2 + 60, "k", SMALL)
    for e in range(down * across):
        i, j = ROWS * (e % down), COLS * (e // down)
        is_shown = e == SHOWN
        c.box(SCALE * j, SCALE * i, SCALE * min(COLS, N - j), SCALE * min(ROWS, L - i), f"{e}", GREEN if is_shown else INK,
              0.5 if is_shown else 0, size=SMALL, bold=is_shown)
    c.text(SCALE * N / 2, SCALE * L + 12, "C", bold=True)
    words = canvas.part(left + 8, top + 66)
    words.text(0, 0, f"slice e = {SHOWN} of {down * across}", ha="left", bold=True)
    words.text(0, 22, f"s₀ = {SHOWN} mod {down} = {s0}, s₁ = ⌊{SHOWN} / {down}⌋ = {s1}", SMALL, ha="left")
    words.text(0, 42, f"from row {ROWS * s0} and column {COLS * s1} on", SMALL, ha="left")
