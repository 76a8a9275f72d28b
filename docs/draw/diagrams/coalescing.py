"""Stages 05 and 06 of local volatility: the addresses that lanes access in the solves."""

from draw.canvas import BLUE, ORANGE, SMALL

TITLE = "Lanes and addresses, before and after coalescing"
HEIGHT = {"wide": 216, "narrow": 456}
ALTERNATIVE = (
    "Two strips of memory in sectors of four elements. In stage 05, eight lanes access every eighth element, so "
    "eight sectors are transferred and one element of each is used. In stage 06, they access eight neighbours in "
    "two sectors.")
CAPTION = (
    "Eight of the 32 lanes of a request for elements of 8 bytes. A box is a sector of 32 bytes. Orange elements are "
    "requested, and blue sectors are moved for them. In stage 06, the rows then move to other lanes through shared memory.")

NUMBERS, WIDTH = 64, 5


def strip(canvas, name, number_of, sums):
    """Draws lanes above, and memory below."""
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
    canvas.text(left, top + 36, "element 0", SMALL, ha="left")
    canvas.text(330, top + 36, "63", SMALL, ha="right")
    canvas.text(170, top + 62, sums)


def draw(canvas):
    """Draws both panels."""
    before, after = canvas.panels(2)
    strip(before, "05: a lane reads its own rows", lambda lane: 8 * lane,
          "32 lanes: 32 sectors, a quarter of each used")
    strip(after, "06: lanes read neighbours", lambda lane: lane, "32 lanes: 8 sectors, all used")
