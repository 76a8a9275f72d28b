"""The path of a slice to the GPU in stage 04 of the sliced product, and in stage 05."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "The path to the GPU, from pageable memory and from pinned memory"
HEIGHT = {"wide": 216, "narrow": 414}
WIDTH, STEP, MIDDLE = 62, 88, 90  # width of a box, distance from box to box, and vertical centre of the boxes, in pixels
ALTERNATIVE = (
    "Two rows of boxes from the matrices to the memory of the GPU. In stage 04, a core serialises into a buffer "
    "and copies from there into a small pinned buffer of the driver. In stage 05, the first buffer is pinned, so "
    "the copy engine reads it directly.")
CAPTION = (
    "The path of the data that a slice reads. The result takes the same path back. In stage 05, a core makes one copy less than in "
    "stage 04. Once the transfer has been enqueued, the copy engine works without a core.")


def draw_way(canvas, name, boxes, arrows):
    """Draws boxes with arrows between them, the last box beyond PCIe. An empty box is not drawn, so its arrow is longer."""
    canvas.text(170, 12, name, bold=True)
    canvas.box(0, 30, 2 * STEP + WIDTH + 8, 108, edge=0.6, dashed=True)
    canvas.text(8, 42, "host", SMALL, ha="left")
    for n, (words, is_pinned, height) in enumerate(boxes):
        if words:
            colour, fill = (ORANGE, 0.5) if is_pinned else (BLUE, 0.12)
            canvas.box(4 + STEP * n, MIDDLE - height / 2, WIDTH, height, words, colour, fill, size=SMALL)
    for first, last, words, colour in arrows:
        start, end = 4 + STEP * first + WIDTH, 4 + STEP * last
        canvas.arrow((start + 1, MIDDLE), (end - 1, MIDDLE), colour, 1.8)
        canvas.text((start + end) / 2, 152, words, SMALL)
        canvas.line(((start + end) / 2, MIDDLE + 5), ((start + end) / 2, 144), colour=INK, width=0.4, dashed=True)


def draw(canvas):
    """Draws stage 04 on the left or above, and stage 05 beside or below it."""
    staged, direct = canvas.panels(2, 336)
    draw_way(staged, "04: through the driver's buffer",
             (("A, B", False, 72), ("buffer", False, 50), ("driver's\nbuffer", True, 30), ("GPU's\nmemory", False, 72)),
             ((0, 1, "serialise", GREEN), (1, 2, "copy", GREEN), (2, 3, "PCIe", PURPLE)))
    draw_way(direct, "05: directly from the pinned buffer",
             (("A, B", False, 72), ("buffer", True, 50), ("", False, 0), ("GPU's\nmemory", False, 72)),
             ((0, 1, "serialise", GREEN), (1, 3, "PCIe", PURPLE)))
    if canvas.is_wide:
        key = canvas.part(196, 198)
        entries = (((GREEN, 1, "by a core"), (PURPLE, 1, "by the copy engine"), (ORANGE, 0.5, "pinned: pages never move")),)
    else:
        key = canvas.part(24, 382)
        entries = ((GREEN, 1, "by a core"), (PURPLE, 1, "by the copy engine")), ((ORANGE, 0.5, "pinned: pages never move"),)
    for n, row in enumerate(entries):
        key.key(0, 20 * n, *row)
