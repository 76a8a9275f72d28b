"""The host and the stream in stage 09 of advection, and the array that each copy and each kernel accesses."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "The host launches without waiting; the stream executes in order"
HEIGHT = {"wide": 306, "narrow": 346}
BEGIN, UNIT = {"wide": 84, "narrow": 64}, {"wide": 38, "narrow": 14.7}
KERNELS = (("r", 0.9, GREEN, None), ("c", 0.9, GREEN, None), ("update", 3, BLUE, ORANGE), ("copy back", 2, ORANGE, BLUE))  # u, next
COPY, LAUNCH, STEPS = 2, 0.36, 2
ALTERNATIVE = (
    "Five rows over time: the host's array field, the host, the stream of the GPU, and the arrays u and next on "
    "the device. The host launches eight kernels, four per step, and then waits. The stream executes them one "
    "after the other, between a copy in and a copy out.")
CAPTION = (
    "Two steps, not to scale. The host is above the dashed line, and the GPU is below it. Each kernel is a single thread and "
    "begins when the previous kernel has ended. Only the two copies access arrays on both sides.")


def draw(canvas):
    """Draws the host and the stream, and the arrays that they access, above and below them."""
    width = "wide" if canvas.is_wide else "narrow"
    begin, unit = BEGIN[width], UNIT[width]
    here = canvas.part(6, 8)
    of_field, host, stream, u, following = 0, 48, 120, 172, 204

    def touch(y, when, length, colour):
        here.box(begin + unit * when, y, unit * length - 2, 24, colour=colour, fill=0.4, edge=0)

    now, launch = COPY + LAUNCH, COPY
    kernels = []
    for _ in range(STEPS):
        for words, length, of_u, of_next in KERNELS:
            short = words if canvas.is_wide else {"copy back": "back"}.get(words, words)
            kernels.append((now, length, short, PURPLE))
            touch(u, now, length, of_u)
            if of_next:
                touch(following, now, length, of_next)
            x = begin + unit * launch
            here.box(x, host, unit * LAUNCH - 1, 24, colour=PURPLE, fill=0.5, edge=0)
            here.arrow((x + unit * LAUNCH / 2, host + 24), (begin + unit * now + min(unit * length / 2, 12), stream), PURPLE, 0.7)
            now, launch = now + length, launch + LAUNCH
    for when, first, second in ((0, BLUE, ORANGE), (now, ORANGE, BLUE)):
        touch(of_field, when, COPY, first)
        touch(u, when, COPY, second)
    copies = ((0, COPY, "copy in" if canvas.is_wide else "in", INK), (now, COPY, "copy out" if canvas.is_wide else "out", INK))
    here.lane(stream, "stream", begin, unit, *kernels, *copies)
    here.text(0, host + 12, "host", SMALL, ha="left")
    here.box(begin + unit * launch, host, unit * (now - launch) - 2, 24, "waits once", edge=0.6, dashed=True, size=SMALL)
    for (when, _, words, _), call in zip(copies, ("copy_from", "copy_to")):
        here.box(begin + unit * when, host, unit * COPY - 2, 24, call if canvas.is_wide else words, edge=0.6, fill=0.12, size=SMALL)
    here.line((0, 98), (begin + unit * (now + COPY), 98), width=0.8, dashed=True)
    for y, name in ((of_field, "field"), (u, "u"), (following, "next")):
        here.text(0, y + 12, name, SMALL, ha="left", bold=True)
        here.box(begin, y, unit * (now + COPY) - 2, 24, edge=0.5)
    y = 254
    key = here.part(begin if canvas.is_wide else 2, y)
    key.key(0, 0, (PURPLE, 0.5, "a launch"), (PURPLE, 0.32, "a kernel, <<<1, 1>>>"))
    marks = here.part(begin + 240, y) if canvas.is_wide else here.part(2, y + 22)
    marks.key(0, 0, (BLUE, 0.4, "read"), (ORANGE, 0.4, "written"), (GREEN, 0.4, "both"))
    last = here.part(begin if canvas.is_wide else 2, y + (24 if canvas.is_wide else 44))
    for x, words in ((0, "r: refresh_rows"), (96, "c: refresh_columns"), (212, "back: copy_back"))[:2 if canvas.is_wide else 3]:
        last.text(x, 0, words, SMALL, ha="left")
