"""How systems that lie behind each other become neighbours in the tile of a warp: batched Durbin-Levinson, 03."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Systems on their way from memory to the lanes of a warp"
HEIGHT = {"wide": 305, "narrow": 600}
SYSTEMS, PITCH, CELL = 8, 9, 26
FETCHED, USED = 2, 5
ALTERNATIVE = (
    "First: memory, one line per system; eight lanes fetch eight neighbouring numbers of system 2. Second: "
    "the tile in shared memory, a place across for each bank; a row of the tile holds the same number of "
    "all systems and an empty place. The numbers of system 2 lie in eight different banks, and so do "
    "numbers 5 of all systems.")
CAPTION = (
    "Eight lanes, systems, numbers and banks instead of 32 and more. Orange: what lanes fetch from memory "
    "at once, and where they put it. Blue: what they read at once later, each for its own system. The "
    "dashed places are those left out.")


def draw_memory(canvas):
    """One line per system."""
    canvas.text(170, 12, "in memory", bold=True)
    canvas.text(76 + CELL * SYSTEMS / 2, 32, "number m of r", SMALL)
    for system in range(SYSTEMS):
        canvas.text(70, 69 + CELL * system, f"system {system}", SMALL, ha="right")
        canvas.text(76 + CELL * (system + 0.5), 48, f"{system}", SMALL)
        for number in range(SYSTEMS):
            colour, fill = (ORANGE, 0.5) if system == FETCHED else (BLUE, 0.4) if number == USED else (BLUE, 0.06)
            canvas.box(76 + CELL * number, 56 + CELL * system, CELL, CELL, colour=colour, fill=fill, edge=0.5)


def draw_tile(canvas):
    """The tile, with a place left out of each row."""
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
    """Two panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_memory, draw_tile)):
        draw_one(panel)
