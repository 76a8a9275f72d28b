"""The two paths of an unknown to other thread blocks, in stage 18 of the triangular solve."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Publishing within a cluster and to other clusters"
HEIGHT = {"wide": 196, "narrow": 196}
SIZE, GAP = {"wide": 74, "narrow": 50}, {"wide": 16, "narrow": 8}
ALTERNATIVE = (
    "Four thread blocks of a cluster in a row, and one of the next cluster. The first thread block stores its unknowns directly in "
    "the shared memory of the three after it, and also in the L2 cache. From there, a warp of the next cluster loads them.")
CAPTION = (
    "Four thread blocks of a cluster of eight, and one of the next cluster. The shared memory of each thread block has a slot for "
    "the unknowns of each previous thread block of its cluster.")


def draw(canvas):
    """Draws blocks in a row, arrows between them, and the cache below."""
    kind = "wide" if canvas.is_wide else "narrow"
    size, gap = SIZE[kind], GAP[kind]
    here = canvas.part(12 if canvas.is_wide else 4, 10)
    places = [n * (size + gap) for n in range(4)] + [4 * (size + gap) + 2 * gap]
    for n, left in enumerate(places):
        colour = BLUE if n < 4 else GREEN
        here.box(left, 70, size, 34, f"block {n}" if n < 4 else "block 8", colour, 0.4, edge=0.4, size=SMALL)
    for n in range(1, 4):
        top = 60 - 16 * n
        start, end = places[0] + size / 2 + 6 * (n - 2), places[n] + size / 2
        here.line((start, 70), (start, top), colour=ORANGE, width=1.2)
        here.line((start, top), (end, top), colour=ORANGE, width=1.2)
        here.arrow((end, top), (end, 69), colour=ORANGE)
    here.box(0, 136, places[4] + size, 24, "L2 cache", INK, 0.1, edge=0.4, size=SMALL)
    here.arrow((places[0] + size / 2, 105), (places[0] + size / 2, 135), colour=INK)
    here.arrow((places[4] + size / 2, 135), (places[4] + size / 2, 105), colour=INK)
