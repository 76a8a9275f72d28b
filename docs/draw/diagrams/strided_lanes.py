"""Stage 03 of AᵀA: the sectors that a warp accesses, in the stage and in two slower variants."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "Sectors of a warp: coalesced, and in two variants"
HEIGHT = {"wide": 210, "narrow": 430}
SECTOR, COLUMNS, TILE = 4, 256, 16  # elements per sector, columns of A, and rows and columns of a tile
ALTERNATIVE = (
    "First: row k of A in sectors of four elements. A warp of this stage loads sixteen neighbours in four "
    "sectors; in variant 2, it loads every sixteenth element in sixteen sectors. Second: a tile of C. The warp "
    "stores two complete rows; in variant 1, it stores half sectors in sixteen rows.")
CAPTION = (
    "The matrix has 256 × 256 elements. A thin box is a sector of four elements. Orange: elements that the warp loads or stores. Blue: the other "
    "elements of the same sectors.")


def draw_row(canvas, top, words, used):
    """Draws row k of A in its sectors, with the elements that a warp loads."""
    width = 330 / COLUMNS
    canvas.text(5, top - 9, words, SMALL, ha="left")
    touched = {j // SECTOR for j in used}
    for sector in range(COLUMNS // SECTOR):
        canvas.box(5 + width * SECTOR * sector, top, width * SECTOR, 22, colour=BLUE if sector in touched else INK,
                   fill=0.4 if sector in touched else 0, edge=0.4)
    for j in used:
        canvas.box(5 + width * j, top, width, 22, colour=ORANGE, fill=1, edge=0)


def draw_load(canvas):
    """Draws the loads of a(k, j) in this stage and in variant 2."""
    canvas.text(170, 12, "load of a(k, j), row k of A", bold=True)
    draw_row(canvas, 58, "this stage: 16 neighbours, 4 sectors", range(64, 80))
    draw_row(canvas, 122, "variant 2: 16 elements apart, 16 sectors", range(4, COLUMNS, TILE))


def draw_tile(canvas, left, words, is_used):
    """Draws a tile of C in its sectors, with the elements that a warp stores."""
    cell = 8
    canvas.text(left + cell * TILE / 2, 38, words, SMALL)
    for i in range(TILE):
        for sector in range(TILE // SECTOR):
            columns = range(SECTOR * sector, SECTOR * (sector + 1))
            is_touched = any(is_used(i, j) for j in columns)
            canvas.box(left + cell * SECTOR * sector, 54 + cell * i, cell * SECTOR, cell, colour=BLUE if is_touched else INK,
                       fill=0.4 if is_touched else 0, edge=0.4)
            for j in filter(lambda column: is_used(i, column), columns):
                canvas.box(left + cell * j, 54 + cell * i, cell, cell, colour=ORANGE, fill=1, edge=0)


def draw_store(canvas):
    """Draws the stores of c(i, j) in this stage and in variant 1."""
    canvas.text(170, 12, "store of c(i, j), a tile of C", bold=True)
    draw_tile(canvas, 16, "this stage: 8 sectors", lambda i, j: i in (4, 5))
    draw_tile(canvas, 196, "variant 1: 16 sectors", lambda i, j: j in (4, 5))


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_load, draw_store)):
        draw_one(panel)
