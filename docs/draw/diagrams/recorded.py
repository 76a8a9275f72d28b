"""The graph of stage 10 of Durbin-Levinson, and its launches."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Recorded once, launched 118 times"
HEIGHT = {"wide": 262, "narrow": 500}
N, STEPS = 15000, 128
LAUNCHES = -(-N // STEPS)
ALTERNATIVE = (
    "First: a graph with two nodes for each of the steps 0 to 127, and a last node that adds 128 to the variable "
    "first, which all other nodes read. Second: 118 launches of this graph. In the last one, the nodes beyond "
    "step 14999 return at once.")
CAPTION = (
    "Large. First: the captured nodes. Each node computes its step as k = first + its own index. Second: the launches of the graph "
    "by the host, one per line. In stage 09, the host makes 30000 launches.")


def draw_graph(canvas):
    """Draws the nodes, in the order in which they run, and the variable that they share."""
    canvas.text(170, 12, f"the graph: {2 * STEPS + 1} nodes", bold=True)
    top, width = 58, 48
    for n, step in enumerate((0, 1, None, STEPS - 1)):
        x = 12 + 66 * n
        if step is None:
            canvas.text(x + width / 2, top + 36, "…", 14)
            canvas.arrow((x + width - 10, top + 28), (x + 65, top + 14), BLUE)
            continue
        canvas.text(x + width / 2, top - 20, f"step {step}", SMALL)
        canvas.box(x - 5, top - 8, width + 10, 88, edge=0.5, dashed=True)
        for y, words in ((0, "product"), (46, "update")):
            canvas.box(x, top + y, width, 26, words, BLUE, 0.25, edge=0.6, size=SMALL)
        canvas.arrow((x + width / 2, top + 26), (x + width / 2, top + 45), BLUE)
        canvas.arrow((x + 2, 209), (x + 2, top + 81), GREEN, 1.2)
        canvas.text(x + 8, 174, f"k = first\n+ {step}", SMALL, ha="left")
        if step == 0:
            canvas.arrow((x + width, top + 55), (x + 65, top + 15), BLUE)
        elif step == 1:
            canvas.arrow((x + width, top + 55), (x + width + 18, top + 42), BLUE)
    canvas.arrow((12 + 66 * 3 + width, top + 59), (275, top + 59), BLUE)
    canvas.box(276, top + 46, 60, 26, "advance", ORANGE, 0.5, edge=0.6, size=SMALL)
    canvas.arrow((292, top + 73), (292, 209), ORANGE, 1.4)
    canvas.text(298, 174, f"+ {STEPS}", SMALL, ha="left")
    canvas.box(7, 210, 329, 26, "first, a variable in GPU memory", GREEN, 0.25, edge=0.6, size=SMALL)


def draw_launches(canvas):
    """Draws the steps of each launch."""
    canvas.text(170, 12, f"its {LAUNCHES} launches", bold=True)
    left, width = 76, 256
    for n, launch in enumerate((0, 1, 2, None, LAUNCHES - 1)):
        y = 40 + 40 * n
        if launch is None:
            canvas.text(left + width / 2, y + 12, "…", 14)
            continue
        first = STEPS * launch
        real = min(STEPS, N - first)
        canvas.text(0, y + 13, f"launch {launch}", SMALL, ha="left")
        canvas.box(left, y, width * real / STEPS, 26, f"steps {first} to {first + STEPS - 1}" if real == STEPS else f"{real}", BLUE, 0.25,
                   edge=0.6, size=SMALL)
        if real < STEPS:
            canvas.box(left + width * real / STEPS, y, width * (1 - real / STEPS), 26, f"{STEPS - real} steps after the last: return",
                       INK, 0, edge=0.6, dashed=True, size=SMALL)
            canvas.text(left, y + 38, f"steps {first} to {N - 1}", SMALL, ha="left")


def draw(canvas):
    """Draws the graph on the left or above, and its launches to its right or below it."""
    for panel, draw_one in zip(canvas.panels(2), (draw_graph, draw_launches)):
        draw_one(panel)
