"""Stage 02 of durbin_levinson_batched: the sectors that the lanes access, and the sectors of an interleaved layout."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "One row per system, and one lane per row"
HEIGHT = {"wide": 262, "narrow": 524}
LANES, SECTOR, SHOWN = 8, 4, 5
CELL = 19
ALTERNATIVE = (
    "First: eight rows of memory, one per system. Each lane reads element 5 of its own row, so eight sectors are "
    "transferred and a quarter of each is used. Second: rows with equal elements of all systems. Eight lanes read "
    "two sectors and use all of both.")
CAPTION = (
    "One request for elements of y in f64, with eight of its 32 lanes. Heavy lines separate sectors of 32 bytes. The request needs "
    "the orange elements, and memory transfers the blue ones with them. Stage 02 has the first of the two layouts.")


def draw_rows(canvas, left, name, count, is_wanted, label, sums):
    """Draws rows of elements in sectors. A sector is transferred if a lane requests one of its elements."""
    canvas.text(170, 12, name, bold=True)
    here = canvas.part(left, 66)
    for row in range(LANES):
        here.text(-8, CELL * row + 9, f"{label} {row}", SMALL, ha="right")
        for sector in range(count // SECTOR):
            numbers = range(SECTOR * sector, SECTOR * (sector + 1))
            moves = any(is_wanted(row, number) for number in numbers)
            for number in numbers:
                wanted = is_wanted(row, number)
                here.box(CELL * number, CELL * row, CELL, CELL - 3, colour=ORANGE if wanted else BLUE if moves else INK,
                         fill=0.75 if wanted else 0.28 if moves else 0, edge=0.2)
            here.box(CELL * SECTOR * sector, CELL * row, CELL * SECTOR, CELL - 3, edge=1.1)
    canvas.text(170, 66 + CELL * LANES + 28, sums)


def draw_apart(canvas):
    """Draws the layout of stage 02."""
    draw_rows(canvas, 80, "02: each lane has its own row", 3 * SECTOR, lambda _, number: number == SHOWN, "system",
              "8 lanes: 8 sectors, a quarter of each used")
    here = canvas.part(80, 66)
    for number in range(3 * SECTOR):
        here.text(CELL * (number + 0.5), -11, f"{number}", SMALL)
    here.text(CELL * 3 * SECTOR + 12, CELL * LANES / 2 - 2, "…", 14)
    here.text(CELL * 6, -30, "element i of y", SMALL)
    here.arrow((CELL * (SHOWN + 0.5), CELL * LANES + 6), (CELL * 8, CELL * LANES + 6), ORANGE)
    here.text(CELL * 8 + 4, CELL * LANES + 6, "needed next", SMALL, ha="left")


def draw_together(canvas):
    """Draws a layout in which the same elements of all systems are adjacent."""
    draw_rows(canvas, 104, "with interleaved systems", 2 * SECTOR, lambda row, _: row == SHOWN, "element",
              "8 lanes: 2 sectors, all used")
    here = canvas.part(104, 66)
    for system in range(LANES):
        here.text(CELL * (system + 0.5), -11, f"{system}", SMALL)
    here.text(CELL * 4, -30, "system, and its lane", SMALL)
    here.text(CELL * LANES + 14, CELL * LANES / 2 - 2, "…", 14)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_apart, draw_together)):
        draw_one(panel)
