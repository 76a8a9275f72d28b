"""Stage 07 of Cholesky: the banks from which eight lanes read 16 bytes (a pack) each, with and without padding of the
rows."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "Eight packs, from the same banks or from all of them"
HEIGHT = {"wide": 252, "narrow": 504}
ROWS, BANKS, PACK = 8, 32, 4  # a bank is 4 bytes wide, and a pack is 16 bytes long
CELL, HIGH = 9, 20
ALTERNATIVE = (
    "Two charts of 32 banks with eight rows of shared memory. On the left, the first pack of each row is in the "
    "same four banks, so eight lanes wait for each other. On the right, padding shifts each row by four banks, "
    "and all lanes read at the same time.")
CAPTION = (
    "The first pack of each row, which eight lanes read at the same time. The other packs of a row follow in the next banks, and wrap around "
    "after bank 31.")


def chart(canvas, name, length, words):
    """Draws eight rows of `length` words in shared memory, with the banks of the first pack of each row."""
    canvas.text(CELL * BANKS / 2, -36, name, bold=True)
    for bank in range(0, BANKS + 1, PACK):
        canvas.line((CELL * bank, 0), (CELL * bank, HIGH * ROWS), width=0.4, opacity=0.4)
        if bank < BANKS:
            canvas.text(CELL * (bank + PACK / 2), -9, f"{bank}–{bank + PACK - 1}", SMALL)
    canvas.text(-6, -9, "banks", SMALL, ha="right")
    firsts = [row * length % BANKS for row in range(ROWS)]
    for row, first in enumerate(firsts):
        canvas.text(-6, HIGH * (row + 0.5), f"row {row}", SMALL, ha="right")
        canvas.box(CELL * first, HIGH * row + 2, CELL * PACK, HIGH - 4, f"lane {row}", ORANGE if firsts.count(first) > 1 else BLUE, 0.5,
                   edge=0.5, size=SMALL)
    canvas.box(0, 0, CELL * BANKS, HIGH * ROWS, colour=INK, edge=0.5)
    canvas.text(CELL * BANKS / 2, HIGH * ROWS + 16, words, SMALL)


def draw(canvas):
    """Draws rows of 128 bytes on the left or above, and rows of 144 bytes beside or below them."""
    short, padded = (panel.part(44, 58) for panel in canvas.panels(2, 338))
    chart(short, "rows of 128 bytes", BANKS, "8 wavefronts: all read banks 0 to 3")
    chart(padded, "rows of 144 bytes", BANKS + PACK, "1 wavefront: each reads other banks")
