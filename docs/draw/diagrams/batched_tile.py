"""The transposition of systems into the tile of a warp, in stage 03 of durbin_levinson_batched."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Systems transposed from memory to the lanes of a warp"
HEIGHT = {"wide": 305, "narrow": 600}
SYSTEMS, PITCH, CELL = 8, 9, 26
FETCHED, USED = 2, 5
ALTERNATIVE = (
    "First: memory with one line per system, of which eight lanes fetch eight adjacent elements. Second: the tile "
    "in shared memory with one column per bank. The elements of one system are in eight different banks, and so "
    "are equal elements of all systems.")
CAPTION = (
    "The figure has eight lanes, systems, elements and banks instead of 32 or more. The lanes copy the orange elements from memory "
    "to the orange slots, all at once. Later, they read the blue elements at once, each lane for its own system. The dashed slots "
    "are padding.")


def draw_memory(canvas):
    """Draws one line per system."""
    canvas.text(170, 12, "in memory", bold=True)
    canvas.text(76 + CELL * SYSTEMS / 2, 32, "element m of r", SMALL)
    for system in range(SYSTEMS):
        canvas.text(70, 69 + CELL * system, f"system {system}", SMALL, ha="right")
        canvas.text(76 + CELL * (system + 0.5), 48, f"{system}", SMALL)
        for number in range(SYSTEMS):
            colour, fill = (ORANGE, 0.5) if system == FETCHED else (BLUE, 0.4) if number == USED else (BLUE, 0.06)
            canvas.box(76 + CELL * number, 56 + CELL * system, CELL, CELL, colour=colour, fill=fill, edge=0.5)


def draw_tile(canvas):
    """Draws the tile, with an unused slot in each row."""
    canvas.text(170, 12, "in shared memory", bold=True)
    canvas.text(76 + CELL * SYSTEMS / 2, 32, "bank", SMALL)
    for bank in range(SYSTEMS):
        canvas.text(76 + CELL * (bank + 0.5), 48, f"{bank}", SMALL)
    for number in range(SYSTEMS):
        for system in range(PITCH):
            line, bank = divmod(PITCH * number + system, SYSTEMS)
            x, y = 76 + CELL * bank, 56 + CELL * line
            if system == SYSTEMS:
                canvas.box(x + 3, y + 3, CELL - 6, CELL - 6, edge=0.6, dashed=True)
                continue
            colour, fill = (ORANGE, 0.5) if system == FETCHED else (BLUE, 0.4) if number == USED else (BLUE, 0.06)
            canvas.box(x, y, CELL, CELL, f"{number}" if fill > 0.1 else "", colour, fill, edge=0.5, size=SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_memory, draw_tile)):
        draw_one(panel)
