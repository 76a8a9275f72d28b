"""How the first panel of B reaches four GPUs, in stage 11 of the matrix product and in stage 14."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "A panel for four GPUs: fetched by each GPU, or fetched in parts and exchanged"
COLOURS = [BLUE, ORANGE, GREEN, PURPLE]
HEIGHT = {"wide": 290, "narrow": 580}
ALTERNATIVE = (
    "A panel of four parts in the host's memory, above four GPUs. Stage 11: an arrow for each of the four parts leads to each GPU. "
    "Stage 14: one arrow leads to each GPU and carries one part. The GPUs send their parts to each other, so that each of them has "
    "all four.")
CAPTION = (
    "In stage 11, the host's memory is read four times for one panel, and in stage 14 once. In the end, each GPU has all four parts. "
    "A thick frame marks the part that came from the host.")
WIDTH, BETWEEN = 68, 14


def x(g):
    """The left edge of a GPU."""
    return 4 + g * (WIDTH + BETWEEN)


def parts(canvas, left, top, size, strong=()):
    """Draws the four parts of a panel, one below the other."""
    for part, colour in enumerate(COLOURS):
        canvas.box(left, top + size * part, WIDTH, size - 2, colour=colour, fill=0.4, edge=2 if part in strong else 0.4)


def draw_way(canvas, name, is_handed_on):
    """Draws the host's panel, the transfers, and the final contents of the GPUs."""
    middle = (x(0) + x(3) + WIDTH) / 2
    canvas.text(middle, 10, name, bold=True)
    parts(canvas, middle - WIDTH / 2, 28, 14)
    canvas.text(middle + WIDTH / 2 + 8, 56, "host", SMALL, ha="left")
    for g, colour in enumerate(COLOURS):
        centre = x(g) + WIDTH / 2
        for part, own in enumerate(COLOURS):
            if not is_handed_on or part == g:
                aside = 0 if is_handed_on else 6 * (part - 1.5)
                canvas.arrow((middle + (g - 1.5) * 14 + aside / 2, 86), (centre + aside, 158), own, 1.2)
        parts(canvas, x(g), 162, 16, (g,) if is_handed_on else range(4))
        canvas.text(centre, 238, f"GPU {g}", SMALL)
        if is_handed_on and g < 3:
            canvas.arrow((x(g) + WIDTH, 194), (x(g + 1), 194), both=True, width=1.2)
    if is_handed_on:
        canvas.text(middle, 262, "over NVLink, from each GPU to each other", SMALL)


def draw(canvas):
    """Draws stage 11 on the left or above, and stage 14 beside or below it."""
    each, together = canvas.panels(2, 330)
    draw_way(each, "11: each GPU fetches all", False)
    draw_way(together, "14: each GPU fetches a part", True)
