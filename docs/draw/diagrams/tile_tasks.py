"""The tasks of a factorisation of four by four tiles, and the dependences between them. The figure is a scheme without
times."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "The task graph of four by four tiles"
TILES = 4
HEIGHT = {"wide": 322, "narrow": 596}
ALTERNATIVE = (
    "A graph of twenty tasks in ten levels. Each step factorises a tile on the diagonal, solves the tiles below "
    "it, and updates the tiles to the right. The next factorisation waits only for the update of its own tile.")
CAPTION = (
    "Each box is a task on a tile, labelled with the tile's row and column. An arrow leads to a task that waits; a task also waits for the "
    "previous task on the same tile. The critical path has ten of the twenty tasks.")

LOOKS = {"factorise": (ORANGE, 0.5), "solve": (BLUE, 0.35), "update": (GREEN, 0.3)}


def turns():
    """Yields kind, row, column and step of the tasks, in the order in which they are created."""
    for k in range(TILES):
        yield "factorise", k, k, k
        yield from (("solve", i, k, k) for i in range(k + 1, TILES))
        yield from (("update", i, j, k) for i in range(k + 1, TILES) for j in range(k + 1, i + 1))


def reads(kind, i, j, k):
    """The tiles that a task reads, including its own."""
    return {"factorise": {(k, k)}, "solve": {(k, k), (i, k)}, "update": {(i, k), (j, k), (i, j)}}[kind]


def graph():
    """The tasks with their levels, and the pairs of tasks whose second task waits for the first, according to `depend`."""
    last, levels, waits = {}, {}, []
    for turn in turns():
        before = [last[tile] for tile in sorted(reads(*turn)) if tile in last]
        waits += [(other, turn) for other in before]
        levels[turn] = 1 + max((levels[other] for other in before), default=-1)
        last[turn[1], turn[2]] = turn
    return levels, waits


def lane(i, j):
    """The lane of a tile, which is the same in all levels, so that no box lies between two successive tasks of the tile."""
    return 2.5 if i == 0 else 1.5 * i - 0.5 if j == 0 else i * (i - 1) / 2 + j - 1


def draw(canvas):
    """Draws the diagram for either width."""
    levels, waits = graph()
    width, height = (44, 24) if canvas.is_wide else (40, 24)
    if canvas.is_wide:
        at = {turn: (36 + 80 * level, 30 + 46 * lane(*turn[1:3])) for turn, level in levels.items()}
    else:
        at = {turn: (32 + 55 * lane(*turn[1:3]), 24 + 58 * level) for turn, level in levels.items()}
    ahead = (width / 2, 0) if canvas.is_wide else (0, height / 2)
    for first, second in waits:
        (x0, y0), (x1, y1) = at[first], at[second]
        canvas.arrow((x0 + ahead[0], y0 + ahead[1]), (x1 - ahead[0], y1 - ahead[1]), width=0.6)
    for (kind, i, j, _), (x, y) in at.items():
        colour, fill = LOOKS[kind]
        canvas.box(x - width / 2, y - height / 2, width, height, f"{i}, {j}", colour, fill, size=SMALL)
    canvas.key(8, canvas.height - 12, *((*look, kind) for kind, look in LOOKS.items()))
