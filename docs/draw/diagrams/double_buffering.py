"""The flow of slices through four buffers, with two host threads and a GPU. The figure is a scheme and shows no times."""

from draw.canvas import BLUE, INK, ORANGE, SMALL

TITLE = "Four buffers and two host threads"
SLICES = 5
PARTS = SLICES + 2
HEIGHT = {"wide": 300, "narrow": 560}
ALTERNATIVE = (
    "Five slices in seven phases, with one row each for host thread one, the GPU and host thread two. In phase e, "
    "thread one sends slice e, the GPU computes slice e - 1, and thread two fetches slice e - 2. All three "
    "synchronise at the end of each phase.")
CAPTION = (
    "A scheme, not a recording: the lengths are invented. The colour shows the pair of buffers: one for even slices, one for odd slices. At "
    "a dashed line, the GPU and both threads synchronise, and the buffers change roles.")

# Each unit with its steps, its phase relative to the index of the slice, and the fraction of a phase that the steps take.
LANES = (("host thread one", ("serialise", "send"), 0, 0.94), ("GPU", ("kernel",), 1, 0.84),
         ("host thread two", ("fetch", "deserialise"), 2, 0.74))
STAGES = ((0, 2, "initial stage"), (2, PARTS - 2, "even and odd phases alternate"), (PARTS - 2, PARTS, "final stage"))


def bars():
    """Yields the bars: lane, phase, slice, length as a fraction of the phase, and the names of the steps."""
    for lane, (_, steps, after, share) in enumerate(LANES):
        for e in range(SLICES):
            yield lane, e + after, e, share, steps


def colour_of(e):
    """The colour of the slice's buffers."""
    return BLUE if e % 2 == 0 else ORANGE


def draw_wide(canvas):
    """Draws the lanes with time to the right."""
    left, top, width, height, down = 112, 46, 97, 40, 62
    for lane, (name, *_) in enumerate(LANES):
        canvas.text(left - 10, top + down * lane + height / 2, name, ha="right", bold=True)
    for part in range(PARTS + 1):
        canvas.line((left + width * part, top - 10), (left + width * part, top + down * 3 - 10), width=0.6, dashed=True)
    for part in range(PARTS):
        canvas.text(left + width * (part + 0.5), top - 20, f"phase {part}", SMALL)
    for lane, part, e, share, steps in bars():
        canvas.box(left + width * part + 2, top + down * lane, width * share, height,
                   "\n".join(f"{step} {e}" for step in steps), colour_of(e), 0.32, size=SMALL)
    for first, last, words in STAGES:
        y = top + down * 3 + 4
        canvas.line((left + width * first + 4, y), (left + width * last - 4, y), width=1.2)
        canvas.text(left + width * (first + last) / 2, y + 14, words, SMALL)
    draw_key(canvas, left, top + down * 3 + 46)


def draw_narrow(canvas):
    """Draws the lanes with time downwards."""
    left, top, width, high, across = 34, 52, 82, 60, 92
    for lane, (name, *_) in enumerate(LANES):
        canvas.text(left + across * lane + width / 2, 26, name.replace(" thread", "\nthread"), SMALL, bold=True)
    for part in range(PARTS + 1):
        canvas.line((left - 8, top + high * part), (left + across * 3, top + high * part), width=0.6, dashed=True)
    for part in range(PARTS):
        canvas.text(left - 18, top + high * (part + 0.5), f"{part}", SMALL)
    for lane, part, e, share, steps in bars():
        canvas.box(left + across * lane, top + high * part + 2, width, high * share,
                   "\n".join(f"{step} {e}" for step in steps), colour_of(e), 0.32, size=SMALL)
    for first, last, words in STAGES:
        x = left + across * 3 + 4
        canvas.line((x, top + high * first + 4), (x, top + high * last - 4), width=1.2)
        canvas.text(x + 11, top + high * (first + last) / 2, words, SMALL, rotation=270)
    draw_key(canvas, left, top + high * PARTS + 22)


def draw_key(canvas, x, y):
    """Draws the meaning of the colours and lines."""
    canvas.key(x, y, (BLUE, 0.32, "buffers of even slices"), (ORANGE, 0.32, "of odd slices"), (INK, 0, "empty: waits")) \
        if canvas.is_wide else canvas.key(x, y, (BLUE, 0.32, "buffers of even slices"), (ORANGE, 0.32, "of odd slices"))


def draw(canvas):
    """Draws the diagram for either width."""
    (draw_wide if canvas.is_wide else draw_narrow)(canvas)
