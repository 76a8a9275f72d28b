"""A step of stage 03 of Durbin-Levinson: each pair is updated and immediately multiplied for the next sum."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "One pass and one barrier per step"
HEIGHT = {"wide": 274, "narrow": 552}
K, PAIR = 8, 1
CELL = 33
ALTERNATIVE = (
    "First: a row of eight elements and two threads. Each thread loads a pair, writes it in place and immediately "
    "multiplies the results by the elements of r below. Second: a step of stage 02 has two passes and two "
    "barriers; a step of stage 03 has one of each.")
CAPTION = (
    "First: step k = 8 with two threads. The boxes contain indices. The element of r that multiplies an element of y is drawn below "
    "it. Second: two steps, not to scale. Dark bars are barriers.")


def draw_pair(canvas):
    """Draws the row before and after the update, and the element of r that multiplies each element."""
    canvas.text(170, 12, "03: a pair, from its load to the sum", bold=True)
    mirror = K - 1 - PAIR
    shares = [BLUE if min(i, K - 1 - i) < K // 4 else GREEN for i in range(K)]
    here = canvas.part(32, 34)
    for y, name, numbers, colours in ((0, "y", range(K), shares), (96, "y", range(K + 1), shares + [ORANGE]),
                                      (154, "r", range(K + 1, 0, -1), shares + [ORANGE])):
        here.text(-8, y + 11, name, ha="right", bold=True)
        for i, (number, colour) in enumerate(zip(numbers, colours)):
            words = "α" if number == K and name == "y" else f"{number}"
            here.box(CELL * i, y, CELL - 3, 22, words, colour, 0.5 if i in (PAIR, mirror) else 0.14, edge=0.6, size=SMALL)
    for i in range(K + 1):
        here.text(CELL * i + 15, 136, "×", SMALL)
    here.box(CELL * 2.6, 44, CELL * 2.7, 26, "update both", BLUE, 0.3, edge=0.6, size=SMALL)
    for i, x in ((PAIR, CELL * 2.6), (mirror, CELL * 5.3)):
        here.arrow((CELL * i + 15, 23), (x, 52), BLUE, 1.3)
        here.arrow((x, 62), (CELL * i + 15, 95), BLUE, 1.3)
    canvas.text(170, 228, f"all products, and r {K + 2}: the sum for the next α", SMALL)
    canvas.key(26, 256, (BLUE, 0.3, "thread 0"), (GREEN, 0.3, "thread 1"), (ORANGE, 0.3, "α, by thread 1"))


def draw_steps(canvas, name, passes, length):
    """Draws two steps of two threads, as passes with a barrier after each."""
    canvas.text(170, 12, name, bold=True)
    left = 56
    for thread in range(2):
        canvas.text(0, 40 + 30 * thread, f"thread {thread}", SMALL, ha="left")
        for n, words in enumerate(2 * passes):
            canvas.box(left + (length + 8) * n, 28 + 30 * thread, length - 2, 24, words, (BLUE, GREEN)[thread], 0.3, edge=0.5, size=SMALL)
    for n in range(2 * len(passes)):
        x = left + (length + 8) * (n + 1) - 5.5
        canvas.line((x, 24), (x, 86), width=3)
    for n, words in enumerate(("step k", "step k + 1")):
        canvas.text(left + (length + 8) * len(passes) * (n + 0.5) - 4, 98, words, SMALL)


def draw(canvas):
    """Draws a pair on the left or above, and two steps to its right or below it."""
    pair, steps = canvas.panels(2)
    draw_pair(pair)
    draw_steps(steps, "02: two passes and two barriers per step", ("sum", "update"), 62)
    draw_steps(steps.part(0, 130), "03: one pass and one barrier", ("update, sum",), 84)
