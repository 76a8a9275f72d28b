"""The work of the SMs in stages 05 and 06 of the triangular solve, for six blocks on the diagonal."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "All diagonal blocks are inverted before the first step"
HEIGHT = {"wide": 334, "narrow": 352}
BLOCKS, ROW = 6, 15
SOLVE, SUBTRACT = 4, 2  # durations as drawn, roughly the ratio measured on the data set large
INVERT, MULTIPLY = 8, 1
ALTERNATIVE = (
    "Two timelines with a row for each of six SMs. In stage 05, one SM solves a block in each step while the "
    "others are idle. In stage 06, all six first invert a block each, so the later steps are shorter, and the "
    "program ends sooner.")
CAPTION = (
    "Six blocks on the diagonal. The data set large has 256 such blocks, so the inversion takes a much smaller fraction of the "
    "total time. The lengths of the kernels are roughly as measured. The launches are not drawn.")


def draw_turns(canvas, begin, unit, length, colour, words):
    """Draws steps, each with a block that is solved and blocks that are updated. Returns the time at which the steps end."""
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
    """Draws stage 05 above stage 06, and the meaning of the colours."""
    unit = 20 if canvas.is_wide else 9.6
    here = canvas.part((canvas.width - unit * (SOLVE * BLOCKS + SUBTRACT * (BLOCKS - 1))) / 2, 0)
    here.text(0, 12, "05: the blocks are solved one after the other", ha="left", bold=True)
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
