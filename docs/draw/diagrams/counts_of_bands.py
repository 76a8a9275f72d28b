"""The tiles and counts of two GPUs at one moment, in stage 11 of advection on many processes."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A tile waits for three counts in its own GPU's memory"
HEIGHT = {"wide": 336, "narrow": 336}
STEP, BANDS, STRIPS = 2, 3, 4
WIDTH, HIGH, HALO = 40, 26, 16  # of a tile; height of a row of halo
TILES, COUNTS = 40, 236  # where tiles and counts begin
STATES = {0: (5, 9), 1: (1, 5)}  # of GPUs: tiles that are done, tiles that are drawn
ALTERNATIVE = (
    "Two GPUs above each other, each with three bands of four tiles, numbered from 0 to 11 in the order in which "
    "blocks draw them in step 2. On GPU 0 five tiles are done and four in work, on GPU 1 one is done and four are in "
    "work. Beside the bands stand their counts: 12, 9 and 8 on GPU 0, 9, 8 and 8 on GPU 1. Above and below stand "
    "those of the neighbour's last and first band, beside the rows of halo. Tile 8 of GPU 0 may begin, as its own "
    "count and those above and below are 8 or more, four tiles for each of two steps. Arrows from the bands at the "
    "seam lead to the other GPU's halo and count.")
CAPTION = (
    "A moment of step 2, with three bands of four tiles. Tile 8 of GPU 0, framed, needs 8 or more in three counts: "
    "its band's and both neighbours'. GPU 0 sees 8, not 9, of the band below: a band at a seam is told of when all of "
    "it is done. With two GPUs each is the other one's neighbour on both sides.")


def counts(gpu):
    """How many tiles of each band are done, between those of the other GPU's last and first band."""
    def of_band(g, band):
        return STRIPS * STEP + min(max(STATES[g][0] - STRIPS * band, 0), STRIPS)

    told = [of_band(1 - gpu, band) // STRIPS * STRIPS for band in (BANDS - 1, 0)]
    return [told[0], *(of_band(gpu, band) for band in range(BANDS)), told[1]]


def top(row):
    """Where a band begins below the halo above it, which is row 0."""
    return HALO + HIGH * (row - 1) if row else 0


def draw_gpu(canvas, gpu):
    """Tiles between two rows of halo, and counts beside them."""
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
    """Two GPUs, what goes from one to the other, and what colours mean."""
    here = canvas.part((canvas.width - 340) / 2, 0)
    high, gap = 2 * HALO + HIGH * BANDS, 60
    here.text(TILES + WIDTH * STRIPS / 2 - 2, 12, "tiles of step 2", SMALL, bold=True)
    here.text(COUNTS + 17, 12, "done", SMALL, bold=True)
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
    """What colours mean."""
    canvas.key(0, 0, (BLUE, 0.4, "done"), (ORANGE, 0.4, "drawn by blocks"), (INK, 0, "in the queue"))
