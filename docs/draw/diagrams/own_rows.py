"""Which sectors the lanes of stage 02 of batched Durbin-Levinson touch, and which they would touch side by side."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "A row for each system, and a lane for each row"
HEIGHT = {"wide": 262, "narrow": 524}
LANES, SECTOR, SHOWN = 8, 4, 5
CELL = 19
ALTERNATIVE = (
    "First: eight rows of memory, one per system, cut into sectors of four numbers. Each lane wants number 5 of its own row, so that "
    "eight sectors move, and a quarter of each is used; numbers 6 and 7 of the same sectors would be wanted next. Second: memory in "
    "which a row has the same number of all systems. Eight lanes want number 5 of all systems, which lie side by side in two sectors, "
    "and all of both is used.")
CAPTION = (
    "One request for numbers of y in f64, eight of its 32 lanes; heavy lines part sectors of 32 bytes. Orange: what the request "
    "wants; blue: what moves with it. Stage 02 has the first of the two.")


def draw_rows(canvas, left, name, count, is_wanted, label, sums):
    """Rows of numbers in sectors; those sectors move of which a number is wanted."""
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
    """As in stage 02."""
    draw_rows(canvas, 80, "02: each lane in a row of its own", 3 * SECTOR, lambda _, number: number == SHOWN, "system",
              "8 lanes: 8 sectors, a quarter of each used")
    here = canvas.part(80, 66)
    for number in range(3 * SECTOR):
        here.text(CELL * (number + 0.5), -11, f"{number}", SMALL)
    here.text(CELL * 3 * SECTOR + 12, CELL * LANES / 2 - 2, "…", 14)
    here.text(CELL * 6, -30, "number i of y", SMALL)
    here.arrow((CELL * (SHOWN + 0.5), CELL * LANES + 6), (CELL * 8, CELL * LANES + 6), ORANGE)
    here.text(CELL * 8 + 4, CELL * LANES + 6, "wanted next", SMALL, ha="left")


def draw_together(canvas):
    """As it would be with the same number of all systems side by side."""
    draw_rows(canvas, 104, "if systems lay side by side", 2 * SECTOR, lambda row, _: row == SHOWN, "number",
              "8 lanes: 2 sectors, all used")
    here = canvas.part(104, 66)
    for system in range(LANES):
        here.text(CELL * (system + 0.5), -11, f"{system}", SMALL)
    here.text(CELL * 4, -30, "system, and its lane", SMALL)
    here.text(CELL * LANES + 14, CELL * LANES / 2 - 2, "…", 14)


def draw(canvas):
    """Two panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_apart, draw_together)):
        draw_one(panel)
