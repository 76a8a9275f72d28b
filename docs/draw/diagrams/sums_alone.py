"""What the registers of a thread hold in stages 10 and 12 of AᵀA, and the tile of its block."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Registers for whole numbers, or for sums alone"
HEIGHT = {"wide": 262, "narrow": 520}
ACROSS, CELL, SCALE = 12, 11, 0.5
THREADS = 256
ALTERNATIVE = (
    "Two fields of registers, and a tile of C beside each. Stage 10: of 165 registers of a thread 16 hold sums, 64 hold whole numbers "
    "and 32 their shares; the tile has 64 by 64 elements, for 15 moduli one after the other. Stage 12: of 171 registers 128 hold "
    "sums, and none holds whole numbers; the tile has 128 by 256 elements, eight times as many, for one modulus.")
CAPTION = (
    "A cell is a register of 32 bits of one thread; both tiles are drawn to the same scale, and both blocks have 256 threads. Whole "
    "numbers and shares are what a modulus after the other is added up to; without them there is room for eight times the sums.")


def draw_stage(canvas, name, moduli, tile, registers, together):
    """The registers of a thread by what they hold, and the tile of the block."""
    sums = tile[0] * tile[1] // THREADS
    canvas.text(152, -28, name, bold=True)
    held = [(ORANGE, 0.65)] * sums + [(BLUE, 0.4)] * (4 * together) + [(GREEN, 0.4)] * (2 * together)
    held += [(INK, 0.04)] * (registers - len(held))
    for n, (colour, fill) in enumerate(held):
        canvas.box(CELL * (n % ACROSS), CELL * (n // ACROSS), CELL - 1.5, CELL - 1.5, colour=colour, fill=fill, edge=0.4)
    canvas.text(CELL * ACROSS / 2, -9, f"{registers} registers of a thread", SMALL)
    down, across = (SCALE * side for side in tile)
    middle = 240
    canvas.text(middle, -9, "the tile of a block", SMALL)
    canvas.box(middle - across / 2, 6, across, down, colour=ORANGE, fill=0.3)
    canvas.text(middle, down + 20, f"{tile[0]} × {tile[1]} elements,\n{sums} for each thread", SMALL)
    canvas.text(middle, down + 58, moduli, SMALL)


def draw(canvas):
    """Two panels, and what colours mean."""
    ten, twelve = canvas.panels(2)
    draw_stage(ten.part(18, 44), "stage 10", "15 moduli in turn", (64, 64), 165, 16)
    draw_stage(twelve.part(18, 44), "stage 12", "one modulus", (128, 256), 171, 0)
    key = canvas.part((canvas.width - 330) / 2, canvas.height - 14)
    key.key(0, 0, (ORANGE, 0.65, "sums"), (BLUE, 0.4, "whole numbers"), (GREEN, 0.4, "shares"), (INK, 0.04, "all else"))
