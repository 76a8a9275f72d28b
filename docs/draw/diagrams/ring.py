"""Stage 08 of AᵀA: the four buffers for tiles over time, with the barriers that guard them."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "Four buffers for tiles, over the steps of a block"
HEIGHT = {"wide": 264, "narrow": 264}
BUFFERS, AHEAD = 4, 2
ALTERNATIVE = (
    "Four buffers, one per row, over the steps. The copies for a step take two steps to arrive, the threads then "
    "multiply for one step, and the buffer is empty for one step. Each buffer does this one step later than the "
    "buffer above it.")
CAPTION = (
    "Only the steps are to scale. At any time, the threads use one buffer, two are being filled, "
    "and one is empty. Each box shows the step for which its tiles are used. The bars are barriers at "
    "which no warp should ever have to wait.")


def draw(canvas):
    """Draws one row per buffer."""
    steps = 12 if canvas.is_wide else 7
    pitch = 54 if canvas.is_wide else 42
    here = canvas.part((canvas.width - pitch * steps) / 2 + 16, 24)
    here.text(pitch * 0.5, -12, "step 0", SMALL)
    for step in range(1, steps):
        here.text(pitch * (step + 0.5), -12, f"{step}", SMALL)
        here.line((pitch * step, -4), (pitch * step, 190), width=0.4, opacity=0.4)
    for place in range(BUFFERS):
        y = 8 + 46 * place
        here.text(-6, y + 16, f"buffer {place}" if canvas.is_wide else f"{place}", SMALL, ha="right")
        for step in range(place, steps + AHEAD, BUFFERS):
            first, last = max(step - AHEAD, 0), min(step, steps)
            if last > first:
                here.box(pitch * first, y, pitch * (last - first), 32, f"{step}", BLUE, 0.14, edge=0)
            if step < steps:
                here.box(pitch * step, y, pitch, 32, f"{step}", ORANGE, 0.4, edge=0, bold=True)
                here.line((pitch * step, y - 3), (pitch * step, y + 35), colour=GREEN, width=3)
                here.line((pitch * (step + 1), y - 3), (pitch * (step + 1), y + 35), colour=BLUE, width=3)
        here.box(0, y, pitch * steps, 32, edge=0.5)
    left = canvas.part((canvas.width - 330) / 2, 232)
    left.key(0, 0, (BLUE, 0.14, "copies in flight"), (ORANGE, 0.4, "multiplied from"))
    left.key(0, 20, (GREEN, 1, "barrier full"), (BLUE, 1, "barrier empty"))
