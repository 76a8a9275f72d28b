"""Turns of tiles as tasks: which waits for which in a factorisation of four by four tiles. No times: a scheme."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Turns of four by four tiles, and what they wait for"
TILES = 4
HEIGHT = {"wide": 322, "narrow": 596}
ALTERNATIVE = (
    "A graph of twenty tasks in ten levels, from left to right, or from top to bottom. Level 0 factorises tile (0, 0); "
    "level 1 solves the three tiles below it, each waiting for it; level 2 updates six tiles to the right, each "
    "waiting for the one or two tiles that it multiplies. Tile (1, 1) is factorised next and waits for its own update "
    "only, not for the other five. The same three levels follow with two tiles to solve and three to update, then one and "
    "one, and the last level factorises tile (3, 3).")
CAPTION = (
    "Each box is a turn of a tile, named by the tile's row and column; an arrow leads to a turn that waits. A turn of a tile "
    "waits for the turn before of the same tile, too. The longest chain has ten turns, out of twenty.")

LOOKS = {"factorise": (ORANGE, 0.5), "solve": (BLUE, 0.35), "update": (GREEN, 0.3)}


def turns():
    """Kind, row and column of tiles in the order in which they are handed out, with the step."""
    for k in range(TILES):
        yield "factorise", k, k, k
        yield from (("solve", i, k, k) for i in range(k + 1, TILES))
        yield from (("update", i, j, k) for i in range(k + 1, TILES) for j in range(k + 1, i + 1))


def reads(kind, i, j, k):
    """The tiles that a turn reads, its own among them."""
    return {"factorise": {(k, k)}, "solve": {(k, k), (i, k)}, "update": {(i, k), (j, k), (i, j)}}[kind]


def graph():
    """The turns with their levels, and pairs of turns of which the second waits for the first, as `depend` says."""
    last, levels, waits = {}, {}, []
    for turn in turns():
        before = [last[tile] for tile in sorted(reads(*turn)) if tile in last]
        waits += [(other, turn) for other in before]
        levels[turn] = 1 + max((levels[other] for other in before), default=-1)
        last[turn[1], turn[2]] = turn
    return levels, waits


def lane(i, j):
    """A tile has the same lane in all levels, so that nothing is in the way from one of its turns to the next."""
    return 2.5 if i == 0 else 1.5 * i - 0.5 if j == 0 else i * (i - 1) / 2 + j - 1


def draw(canvas):
    """In either width."""
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
