"""Stage 12 of Durbin-Levinson: the contents of the row of pairs, by position, from step to step."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "One row of pairs"
LENGTH, STEPS = 10, 6
HEIGHT = {"wide": 300, "narrow": 300}
ALTERNATIVE = (
    "A row of ten pairs before each of six steps. The leading pair moves to the right by one position per step; "
    "to its left are pairs y and z, and to its right are pairs V and U. Arrows show the two pairs from which one "
    "pair is computed.")
CAPTION = (
    "One row per step, one box per pair. The quotient of the leading pair is α, which every pair of the next row needs. "
    "The arrows show the other two pairs from which one pair is computed.")


def draw(canvas):
    """Draws one row per step."""
    pitch = 29 if not canvas.is_wide else 52
    here = canvas.part((canvas.width - pitch * LENGTH) / 2 + 22, 30)
    for position in range(LENGTH):
        here.text(pitch * (position + 0.5) - 2, -14, f"{position}", SMALL)
    for k in range(STEPS):
        here.text(-6, 40 * k + 12, f"k = {k}", SMALL, ha="right")
        for position in range(LENGTH):
            colour, fill, words = ((GREEN, 0.2, "y, z") if position < k else
                                   (ORANGE, 0.55, "V, U") if position == k else (BLUE, 0.14, "V, U"))
            here.box(pitch * position, 40 * k, pitch - 4, 24, words, colour, fill, size=SMALL)
    for k, position in ((0, 6), (1, 7), (3, 2)):
        x = pitch * (position + 0.5) - 2
        here.arrow((x, 40 * k + 24), (x, 40 * k + 40), width=1.2)
        here.arrow((x - pitch, 40 * k + 24), (x - 5, 40 * k + 40), width=1.2)
    key = canvas.part((canvas.width - (310 if not canvas.is_wide else 330)) / 2, 282)
    key.key(0, 0, (GREEN, 0.2, "solution"), (ORANGE, 0.55, "leads"), (BLUE, 0.14, "Schur's"))
