"""Which lane touches which number in the solves of stages 05 and 06."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Lanes and addresses, before and after coalescing"
HEIGHT = {"wide": 216, "narrow": 456}
ALTERNATIVE = (
    "Two strips of memory of 64 numbers, in sectors of four. Stage 05: eight lanes touch numbers 0, 8, 16 "
    "and so on: eight sectors move, and one number in four of each is used. Stage 06: eight lanes touch "
    "numbers 0 to 7: two sectors move, and all of both is used.")
CAPTION = (
    "One request for numbers of 8 bytes, eight of its 32 lanes; a tick is a sector of 32 bytes. Orange: "
    "the numbers that the request wants; blue: what is moved for it. In stage 06 rows then change lanes "
    "in shared memory.")

NUMBERS, WIDTH = 64, 5


def strip(canvas, name, number_of, sums):
    """Lanes above, memory below."""
    canvas.text(170, 12, name, bold=True)
    touched = [number_of(lane) for lane in range(8)]
    left, top = 10, 140
    for sector in range(NUMBERS // 4):
        moved = any(number // 4 == sector for number in touched)
        canvas.box(left + 4 * WIDTH * sector, top, 4 * WIDTH, 24, colour=BLUE, fill=0.28 if moved else 0,
                   edge=0.7)
    for lane, number in enumerate(touched):
        x = 30 + 40 * lane
        canvas.text(x, 36, f"{lane}")
        canvas.box(left + WIDTH * number, top, WIDTH, 24, colour=ORANGE, fill=0.9, edge=0)
        canvas.arrow((x, 46), (left + WIDTH * (number + 0.5), top - 1), ORANGE)
    canvas.text(0, 36, "lane", SMALL, ha="left")
    canvas.text(left, top + 36, "number 0", SMALL, ha="left")
    canvas.text(330, top + 36, "63", SMALL, ha="right")
    canvas.text(170, top + 62, sums)


def draw(canvas):
    """Two panels."""
    before, after = canvas.panels(2)
    strip(before, "05: a lane reads its own rows", lambda lane: 8 * lane,
          "32 lanes: 32 sectors, a quarter of each used")
    strip(after, "06: lanes read neighbours", lambda lane: lane, "32 lanes: 8 sectors, all used")
