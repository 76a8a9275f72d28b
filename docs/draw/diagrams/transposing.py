"""The streams of stage 12 of the sliced product during the first slices, and the buffers of panels."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE

TITLE = "A stream for the transposition, between copies and products"
HEIGHT = {"wide": 236, "narrow": 262}
BEGIN, UNIT = 66, {"wide": 41, "narrow": 15}
COPY, PRODUCT, TURN = 3, 3.8, 0.8  # durations of a panel's copy, of a slice and of a transposition, not to scale
ALTERNATIVE = (
    "Three streams from left to right: copies of panels, transpositions and products. Panels A0 and A2 pass "
    "through one buffer, and A1 and A3 through the other one. Dashed arrows lead from each transposition to the "
    "next copy into the same buffer.")
CAPTION = (
    "The first slices of a product whose panels of A all stay on the GPU, not to scale. A full arrow: the operation at its end waits "
    "for the operation at its beginning. A dashed arrow: a buffer is free again. No copy of a panel of A waits for a product.")


def draw(canvas):
    """Draws the copies, the transpositions and the products."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    here = canvas.part(4, 0)
    copies, turns, products = 26, 92, 158
    begins = [0, 2 * COPY, 3 * COPY, 4 * COPY]  # starts of the copies of A's panels; the panel of B follows the first one
    ends = [begin + COPY for begin in begins]
    here.lane(copies, "copies", BEGIN, unit, (COPY, COPY, "B0", GREEN),
              *((begin, COPY, f"A{n}", PURPLE if n % 2 else BLUE) for n, begin in enumerate(begins)))
    here.lane(turns, "transposing", BEGIN, unit,
              *((end, TURN, f"A{n}ᵀ" if canvas.is_wide else f"{n}", PURPLE if n % 2 else BLUE) for n, end in enumerate(ends[:3])))
    first, starts = 2 * COPY, []
    for n in range(3):
        starts.append(max(first, ends[n] + TURN + 0.1))
        first = starts[-1] + PRODUCT
    here.lane(products, "products", BEGIN, unit, *((start, PRODUCT, f"C{n}0", ORANGE) for n, start in enumerate(starts)))

    def x(time):
        return BEGIN + unit * time

    here.arrow((x(2 * COPY) - 4, copies + 25), (x(starts[0]) + 4, products - 1))
    for n, end in enumerate(ends[:3]):
        here.arrow((x(end) - 4, copies + 25), (x(end) + 3, turns - 1))
        here.arrow((x(end + TURN) - 5, turns + 25), (x(starts[n]) + (4 if n else -4), products - 1))
        if n + 2 < len(begins):
            here.arrow((x(end + TURN) - 2, turns - 1), (x(begins[n + 2]) + 4, copies + 25), dashed=True)
    words = here.part(BEGIN if canvas.is_wide else 6, 214)
    words.key(0, 0, (BLUE, 0.32, "through raw_of_a[0]"), (PURPLE, 0.32, "through raw_of_a[1]"))
    (words.part(270, 0) if canvas.is_wide else words.part(0, 22)).key(0, 0, (GREEN, 0.32, "directly to its memory"))
