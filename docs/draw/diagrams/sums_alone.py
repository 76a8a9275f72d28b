"""Stages 10 and 12 of AᵀA: the contents of a thread's registers, and the tile of its thread block."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Registers for 128-bit integers, or only for sums"
HEIGHT = {"wide": 262, "narrow": 520}
ACROSS, CELL, SCALE = 12, 11, 0.5
THREADS = 256
ALTERNATIVE = (
    "The registers of a thread and a tile of C for two stages. In stage 10, 16 of 165 registers hold sums, and 96 "
    "hold partially reconstructed elements. In stage 12, 128 of 171 registers hold sums, and the tile is eight "
    "times as large.")
CAPTION = (
    "A cell is a register of 32 bits of one thread; both tiles are drawn to the same scale, and both blocks have 256 threads. The "
    "128-bit integers and their shares are partially reconstructed elements. Without them, there is room for eight times as many sums.")


def draw_stage(canvas, name, moduli, tile, registers, together):
    """Draws the registers of a thread by their contents, and the tile of the block."""
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
    """Draws two panels and a key."""
    ten, twelve = canvas.panels(2)
    draw_stage(ten.part(18, 44), "stage 10", "15 moduli in sequence", (64, 64), 165, 16)
    draw_stage(twelve.part(18, 44), "stage 12", "one modulus", (128, 256), 171, 0)
    key = canvas.part((canvas.width - 330) / 2, canvas.height - 14)
    key.key(0, 0, (ORANGE, 0.65, "sums"), (BLUE, 0.4, "128-bit integers"), (GREEN, 0.4, "shares"), (INK, 0.04, "others"))
