"""The tiles and counters of two GPUs at one moment, in stage 11 of advection on many processes."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A tile waits for three counters in the memory of its own GPU"
HEIGHT = {"wide": 336, "narrow": 336}
STEP, BANDS, STRIPS = 2, 3, 4
WIDTH, HIGH, HALO = 40, 26, 16  # width and height of a tile, and height of a row of halo, in pixels
TILES, COUNTS = 40, 236  # horizontal positions of the tiles and of the counters
STATES = {0: (5, 9), 1: (1, 5)}  # by GPU: the numbers of finished tiles and of claimed tiles
ALTERNATIVE = (
    "Two GPUs, one above the other, with three bands of four tiles each. Next to each band is its counter, and "
    "next to the halo rows are copies of the counters of the other GPU. Tile 8 of GPU 0 is framed, and so are the "
    "three counters that it needs.")
CAPTION = (
    "A moment of step 2, with three bands of four tiles. Tile 8 of GPU 0, framed, needs 8 or more in three counters: "
    "for its own band and for both neighbouring bands. For the band below, GPU 0 reads 8 and not 9, because a band at "
    "a seam is published when all its tiles are finished. With two GPUs, each is the other one's neighbour on both sides.")


def counts(gpu):
    """The counters `done` of a GPU's bands, between counters of the other GPU's last and first band."""
    def of_band(g, band):
        finished = min(max(STATES[g][0] - STRIPS * band, 0), STRIPS)
        at_seam = band in (0, BANDS - 1)
        return STRIPS * STEP + (finished // STRIPS * STRIPS if at_seam else finished)

    told = [of_band(1 - gpu, band) for band in (BANDS - 1, 0)]
    return [told[0], *(of_band(gpu, band) for band in range(BANDS)), told[1]]


def top(row):
    """The upper edge of a band; row 0 is the halo above the first band."""
    return HALO + HIGH * (row - 1) if row else 0


def draw_gpu(canvas, gpu):
    """Draws tiles between two halo rows, and counters next to them."""
    done, drawn = STATES[gpu]
    canvas.text(TILES - 8, HALO + HIGH * BANDS / 2, f"GPU {gpu}", SMALL, ha="right", bold=True)
    canvas.text(TILES - 8, HALO / 2 - 2, "halo", SMALL, ha="right")
    for row, count in enumerate(counts(gpu)):
        is_halo = row in (0, BANDS + 1)
        high = HALO if is_halo else HIGH
        canvas.box(COUNTS, top(row), 34, high - 3, f"{count}", GREEN, 0.1 if is_halo else 0.3, edge=0.5, dashed=is_halo, size=SMALL)
        for strip in range(STRIPS):
            number = STRIPS * (row - 1) + strip
            colour, fill = (BLUE, 0.4) if number < done else (ORANGE, 0.4) if number < drawn else (INK, 0)
            if is_halo:
                canvas.box(TILES + WIDTH * strip, top(row), WIDTH - 3, high - 3, colour=INK, edge=0.5, dashed=True)
            else:
                canvas.box(TILES + WIDTH * strip, top(row), WIDTH - 3, high - 3, f"{number}", colour, fill, edge=0.5, size=SMALL)


def draw(canvas):
    """Draws two GPUs, arrows from one to the other, and the meaning of the colours."""
    here = canvas.part((canvas.width - 340) / 2, 0)
    high, gap = 2 * HALO + HIGH * BANDS, 60
    here.text(TILES + WIDTH * STRIPS / 2 - 2, 12, "tiles of step 2", SMALL, bold=True)
    here.text(COUNTS + 17, 12, "finished", SMALL, bold=True)
    for gpu in range(2):
        draw_gpu(here.part(0, 28 + (high + gap) * gpu), gpu)
    seam = 28 + high
    here.line((0, seam + gap / 2 - 2), (340, seam + gap / 2 - 2), dashed=True)
    here.text(0, seam + gap / 2 + 9, "NVLink", SMALL, ha="left")
    here.box(TILES - 2, 28 + top(BANDS) - 2, WIDTH + 1, HIGH + 1, colour=ORANGE, edge=2)
    here.box(COUNTS - 4, 28 + top(BANDS - 1) - 3, 42, 2 * HIGH + HALO + 3, colour=ORANGE, edge=1.6)
    low = 28 + high + gap
    for x, words in ((TILES + WIDTH * STRIPS, "rows"), (COUNTS + 40, "counts")):
        edge = x - 3
        for start, end, bulge in ((seam - HALO - HIGH / 2, low + HALO / 2 - 2, 12), (low + HALO + HIGH / 2, seam - HALO / 2 - 2, 22)):
            here.line((edge, start), (edge + bulge, start), (edge + bulge, end), (edge + 6, end))
            here.arrow((edge + bulge, end), (edge, end))
        here.text(edge + 27, seam + gap / 2 - 12, words, SMALL, ha="left")
    draw_key(canvas.part((canvas.width - 340) / 2 + 10, low + high + 22))


def draw_key(canvas):
    """Draws the meaning of the colours."""
    canvas.key(0, 0, (BLUE, 0.4, "finished"), (ORANGE, 0.4, "claimed"), (INK, 0, "in the queue"))
