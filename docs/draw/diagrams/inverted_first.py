"""What multiprocessors do in stages 05 and 06 of the triangular solve, of six blocks on the diagonal."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "What waits for nothing is done first"
HEIGHT = {"wide": 334, "narrow": 352}
BLOCKS, ROW = 6, 15
SOLVE, SUBTRACT = 4, 2  # lengths as drawn, roughly those measured on large
INVERT, MULTIPLY = 8, 1
ALTERNATIVE = (
    "Two timelines with a row for each of six multiprocessors. Stage 05: in each of six turns one multiprocessor solves a block for "
    "a long time, alone; then five subtract, and four, three, two, one in the turns behind. Stage 06: at first all six invert a "
    "block each, at the same time. Then turns follow in which one multiprocessor works for a short time only, since it multiplies "
    "by an inverse, and the same numbers of them subtract as before. Although inverting takes longer than solving, stage 06 ends "
    "sooner.")
CAPTION = (
    "Six blocks on the diagonal, where large has 256; so there the inverses weigh much less. Lengths of kernels are roughly as "
    "measured. Launches are left out.")


def draw_turns(canvas, begin, unit, length, colour, words):
    """Turns, each of a block that is solved and of what it is taken out of; returns when they end."""
    for turn in range(BLOCKS):
        canvas.box(begin, 0, unit * length - 1.5, ROW - 2, words, colour, 0.5, edge=0.4, size=SMALL)
        begin += unit * length
        for below in range(BLOCKS - 1 - turn):
            canvas.box(begin, ROW * below, unit * SUBTRACT - 1.5, ROW - 2, colour=GREEN, fill=0.4, edge=0.4)
        begin += unit * SUBTRACT if turn + 1 < BLOCKS else 0
    for row in range(BLOCKS + 1):
        canvas.line((0, ROW * row - 1), (unit * (SOLVE * BLOCKS + SUBTRACT * (BLOCKS - 1)), ROW * row - 1), width=0.4, opacity=0.4)
    return begin


def draw(canvas):
    """Stage 05 above stage 06, and what colours mean."""
    unit = 20 if canvas.is_wide else 9.6
    here = canvas.part((canvas.width - unit * (SOLVE * BLOCKS + SUBTRACT * (BLOCKS - 1))) / 2, 0)
    here.text(0, 12, "05: each block is solved in its turn", ha="left", bold=True)
    late = draw_turns(here.part(0, 30), 0, unit, SOLVE, ORANGE, "solve")
    here.text(0, 146, "06: all blocks are inverted first", ha="left", bold=True)
    below = here.part(0, 164)
    for block in range(BLOCKS):
        below.box(0, ROW * block, unit * INVERT - 1.5, ROW - 2, f"invert block {block}" if canvas.is_wide else f"invert {block}",
                  BLUE, 0.35, edge=0.4, size=SMALL)
    soon = draw_turns(below, unit * INVERT, unit, MULTIPLY, PURPLE, "")
    for end, top in ((soon, 160), (late, 26)):
        here.line((end, top), (end, 276), colour=INK, dashed=True)
    here.arrow((0, 270), (soon - 8, 270), width=0.8)
    here.text(soon / 2, 282, "time", SMALL)
    here.arrow((late, 270), (soon, 270), both=True)
    here.text((late + soon) / 2, 282, "gained", SMALL)
    entries = ((ORANGE, 0.5, "64 unknowns, one after the other"), (PURPLE, 0.5, "64 unknowns, by the inverse"), (GREEN, 0.4, "subtract"))
    if canvas.is_wide:
        here.key(70, 314, *entries)
    else:
        for n, entry in enumerate(entries):
            here.key(0 if n < 2 else 220, 312 + 20 * (n % 2), entry)
