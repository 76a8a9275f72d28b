"""Stage 05 of local volatility: the scan within a warp, which composes functions from lane to lane."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "A scan of functions in a warp"
LANES = 8
HEIGHT = {"wide": 374, "narrow": 374}
ALTERNATIVE = (
    "Eight lanes, each of which first composes the functions of its own rows. At distances 1, 2 and 4, each lane "
    "then composes its function with that of an earlier lane. Finally, each lane passes its result to the lane on "
    "its right.")
CAPTION = (
    "Eight of the 32 lanes, and therefore three levels instead of five. A box names the lanes whose functions are "
    "composed in it, and an orange arrow is a shuffle. A backward scan goes from right to left.")


def draw(canvas):
    """Draws one row per level."""
    left = (canvas.width - 340) / 2
    here = canvas.part(left, 0)
    pitch = 42

    def x(lane):
        return 2 + pitch * lane

    rows = [70, 140, 210, 280]
    for lane in range(LANES):
        here.text(x(lane) + 18, 10, f"lane {lane}", SMALL)
        for m in range(4):
            here.box(x(lane) + 3 + 7.5 * m, 22, 7.5, 12, colour=GREEN, fill=0.3)
        here.arrow((x(lane) + 18, 36), (x(lane) + 18, rows[0]))
    for level, top in enumerate(rows):
        distance = 2 ** (level - 1)
        for lane in range(LANES):
            first = max(0, lane - 2 ** level + 1)
            words = f"{first}" if first == lane else f"{first}…{lane}"
            here.box(x(lane), top, 36, 24, words, BLUE, 0.32 if first == 0 else 0.12)
            if level and lane >= distance:
                here.arrow((x(lane - distance) + 18, top - 46), (x(lane) + 14, top), ORANGE, 1.2)
            if level:
                here.arrow((x(lane) + 18, top - 46), (x(lane) + 18, top))
    for level, name in enumerate(("compose own rows", "distance 1", "distance 2", "distance 4")):
        if canvas.is_wide:
            canvas.text(left - 16, rows[level] + 12, name, ha="right")
    for lane in range(LANES - 1):
        here.arrow((x(lane) + 18, rows[3] + 24), (x(lane + 1) + 18, 346), ORANGE, 1.2)
    here.text(170, 362, "the value that enters a lane: the result of the lane before", SMALL)
