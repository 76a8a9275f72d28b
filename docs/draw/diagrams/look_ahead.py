"""The two streams of stage 09 of Cholesky, compared with the single stream of stage 08."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "The next panel during the update"
HEIGHT = {"wide": 236, "narrow": 280}
BEGIN, UNIT = 52, {"wide": 34, "narrow": 14}
ALTERNATIVE = (
    "Two timelines. In stage 08, panels and updates follow each other in one stream. In stage 09, one stream "
    "updates and factorises the next panel while the other one updates all columns to the right of it. Arrows "
    "lead from each operation to those that wait for it.")
CAPTION = ("Panels leave most SMs idle, and updates fill them. With two streams, the dependency chain of panels overlaps the updates. Not to scale; "
           "updates become shorter from iteration to iteration.")


def draw(canvas):
    """Draws the single stream, and below it the two streams."""
    unit = UNIT["wide" if canvas.is_wide else "narrow"]
    here = canvas.part(10, 0)
    here.text(0, 12, "08: one stream", ha="left", bold=True)
    here.lane(30, "", BEGIN, unit, (0, 2, "P0", ORANGE), (2, 6, "U0", BLUE), (8, 2, "P1", ORANGE), (10, 4.5, "U1", BLUE),
              (14.5, 2, "P2", ORANGE), (16.5, 3, "U2", BLUE))
    here.text(0, 92, "09: two streams", ha="left", bold=True)
    here.lane(110, "urgent", BEGIN, unit, (0, 2, "P0", ORANGE), (2, 1.4, "u0", GREEN), (3.4, 2, "P1", ORANGE),
              (8, 1.4, "u1", GREEN), (9.4, 2, "P2", ORANGE), (12.9, 1.4, "u2", GREEN))
    here.lane(166, "patient", BEGIN, unit, (2.2, 5.8, "U0", BLUE), (8.2, 4.5, "U1", BLUE), (12.9, 3, "U2", BLUE))
    for x, to in ((2, 2.4), (5.4, 8.5), (11.4, 13.1)):  # the panel is finished
        here.arrow((BEGIN + unit * x - 3, 135), (BEGIN + unit * to, 165), colour=PURPLE)
    for x, to in ((7.9, 8.4), (12.6, 13.3)):  # the update is finished
        here.arrow((BEGIN + unit * x - 3, 165), (BEGIN + unit * to, 135), colour=PURPLE, dashed=True)
    words = canvas.part(40 if canvas.is_wide else 16, 212)
    entries = ((ORANGE, 0.32, "P: a panel"), (GREEN, 0.32, "u: update of next panel"), (BLUE, 0.32, "U: update of rest"))
    if canvas.is_wide:
        words.key(0, 0, *entries)
        arrows = words.part(420, 0)
    else:
        words.key(0, 0, entries[0], entries[1])
        words.key(0, 22, entries[2])
        arrows = words.part(0, 44)
    for n, (name, dashed) in enumerate((("known", False), ("updated", True))):
        arrows.arrow((110 * n, 0), (110 * n + 24, 0), colour=PURPLE, dashed=dashed)
        arrows.text(110 * n + 30, 0, name, SMALL, ha="left")
