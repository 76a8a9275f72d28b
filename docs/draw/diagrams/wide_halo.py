"""The cells of a block with a wide halo that are correct after each step, in stage 05 of advection on many processes."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "A halo of three cells lasts for three steps"
HEIGHT = {"wide": 290, "narrow": 510}
WIDTH, OWN = 3, 6
ALTERNATIVE = (
    "Four moments of a rank's block of six by six cells with a halo of three cells around it. After the exchange all cells are correct. After "
    "each step the outermost ring of correct cells becomes incorrect. After the third step only the block itself is correct, and then the halo "
    "is exchanged again.")
CAPTION = ("A block of 6 × 6 cells with w = 3. The rank and a neighbour both compute the green cells, with the same bits. This redundant work saves "
           "two of three exchanges.")


def moment(canvas, step, cell):
    """Draws the block and its halo after a step."""
    side = OWN + 2 * WIDTH
    for i in range(side):
        for j in range(side):
            ring = min(i, j, side - 1 - i, side - 1 - j)
            if ring >= WIDTH:
                look = (BLUE, 0.4)
            elif ring >= step:
                look = (ORANGE, 0.45) if step == 0 else (GREEN, 0.4)
            else:
                look = (INK, 0)
            canvas.box(cell * j, cell * i, cell - 2, cell - 2, colour=look[0], fill=look[1], edge=0.4 if look[1] else 0.2)


def draw(canvas):
    """Draws the four moments, and the meaning of the colours."""
    cell = 15 if canvas.is_wide else 13
    side = cell * (OWN + 2 * WIDTH)
    for step in range(WIDTH + 1):
        side_by_side = 4 if canvas.is_wide else 2
        room = canvas.width / side_by_side
        here = canvas.part(room * (step % side_by_side) + (room - side) / 2, 40 + 196 * (step // side_by_side))
        here.text(side / 2, -18, "exchanged" if step == 0 else f"after step {step}", SMALL, bold=True)
        moment(here, step, cell)
    entries = ((BLUE, 0.4, "the rank's own cells"), (ORANGE, 0.45, "from neighbours"), (GREEN, 0.4, "computed redundantly"), (INK, 0, "incorrect"))
    if canvas.is_wide:
        canvas.part(130, 256).key(0, 0, *entries)
    else:
        for n, entry in enumerate(entries):
            canvas.part(90, 418 + 22 * n).key(0, 0, entry)
