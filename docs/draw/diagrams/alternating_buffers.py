"""The three streams of an evaluation in stage 08 of the workload nbody, with three slices, and their dependences."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "Source bodies are streamed, and sums stay for a row of slices"
HEIGHT = {"wide": 258, "narrow": 690}
SLICES = 3
KERNEL, ZERO = 4, 0.6  # durations as drawn, in units of the duration of a copy
OTHERS, OWN = (BLUE, ORANGE), (GREEN, PURPLE)  # buffers of source bodies, and buffers of bodies and sums
ALTERNATIVE = (
    "Three rows over time: copies in, kernels and copies out. Nine kernels follow each other without a gap. "
    "Arrows lead from each copy of source bodies to its kernel, and from each kernel to the copy two slices "
    "later, which uses the same buffer.")
CAPTION = (
    "The figure is not to scale: kernels take far longer than copies. The colour of a kernel shows the buffer from which it "
    "reads. A dashed arrow means that a buffer may be overwritten. The source bodies for a kernel are copied while the "
    "previous kernel computes.")


def schedule():
    """Copies in, kernels, memsets of sums, and copies out, each as (begin, row, slice of source bodies)."""
    copies, kernels, zeros, outs = [], [], [], []
    free = now = 0
    for row in range(SLICES):
        copies.append((free, row, None))
        free += 1
        now = max(now, outs[row - 2][0] + 1 if row > 1 else 0)
        for others in range(SLICES):
            e = SLICES * row + others
            free = max(free, kernels[e - 2][0] + KERNEL if e > 1 else 0)
            copies.append((free, row, others))
            free += 1
            if not others:
                zeros.append((max(now, free - ZERO), row))
                now = zeros[-1][0] + ZERO
            kernels.append((max(now, free), row, others))
            now = kernels[-1][0] + KERNEL
        outs.append((now, row))
    return copies, kernels, zeros, outs


def draw(canvas):
    """Draws the streams; time runs to the right, or downwards on a narrow page."""
    wide = canvas.is_wide
    unit, begin = (17.6, 62) if wide else (14, 44)
    across = (20, 94, 168) if wide else (14, 126, 238)
    size = 38 if wide else 76

    def at(when, lane, share=0.0):
        one, other = begin + unit * when, across[lane] + size * share
        return (one, other) if wide else (other, one)

    def bar(when, length, lane, words, colour, fill=0.35):
        extent = (unit * length - 1.5, size)
        canvas.box(*at(when, lane), *(extent if wide else extent[::-1]), words, colour, fill, edge=0.5, size=SMALL)

    for lane, name in enumerate(("in", "kernels", "out")):
        x, y = at(0, lane, 0.5)
        canvas.text(*((begin - 12, y) if wide else (x, begin - 16)), name, ha="right" if wide else "center", bold=True)
    copies, kernels, zeros, outs = schedule()
    loads = [copy for copy in copies if copy[2] is not None]
    for when, row, others in copies:
        name = f"{row}" if others is None else f"{others}"
        words = name if wide else ("bodies " if others is None else "sources ") + name
        e = SLICES * row + (others or 0)
        bar(when, 1, 0, words, OWN[row % 2] if others is None else OTHERS[e % 2], 0.6 if others is None else 0.35)
    for e, (when, row, others) in enumerate(kernels):
        bar(when, KERNEL, 1, f"bodies {row}\nsources {others}", OTHERS[e % 2])
        canvas.arrow(at(loads[e][0] + 0.9, 0, 1.02), at(when + 0.1, 1, -0.02), OTHERS[e % 2], 1.2)
        if e + 2 < len(loads):
            canvas.arrow(at(when + KERNEL - 0.1, 1, -0.02), at(loads[e + 2][0] + 0.2, 0, 1.02), OTHERS[e % 2], 0.9, dashed=True)
    for when, row in zeros:
        bar(when, ZERO, 1, "", OWN[row % 2], 0.9)
    for when, row in outs:
        bar(when, 1.6, 2, f"{row}" if wide else f"sums {row}", OWN[row % 2], 0.6)
        canvas.arrow(at(when - 0.2, 1, 1.02), at(when + 0.3, 2, -0.02), OWN[row % 2], 1.2)
        if row + 2 < SLICES:
            canvas.arrow(at(when + 1.6, 2, 0.4), at(zeros[row + 2][0] + 0.2, 1, 1.02), OWN[row % 2], 0.9, dashed=True)
    draw_key(canvas.part(62, 230) if wide else canvas.part(14, 640), wide)


def draw_key(canvas, wide):
    """Draws the meaning of the colours."""
    own = ((GREEN, 0.6, "bodies and sums 0, 2"), (PURPLE, 0.6, "bodies and sums 1"))
    others = ((BLUE, 0.35, "source buffer 0"), (ORANGE, 0.35, "source buffer 1"))
    if wide:
        canvas.key(0, 0, *own, *others)
    else:
        canvas.key(0, 0, *own)
        canvas.key(0, 20, *others)
    canvas.key(0, 20 if wide else 40, (GREEN, 0.9, "memset of sums 0, 2"), (PURPLE, 0.9, "memset of sums 1"))
