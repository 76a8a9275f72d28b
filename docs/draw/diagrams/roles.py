"""Two steps of stage 05 of advection, with the copy back, and of stage 06, where two fields swap their roles."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "The copy back, and two fields that swap their roles"
HEIGHT = {"wide": 308, "narrow": 580}
LEFT, RIGHT, WIDTH = 50, 200, 76  # horizontal positions of the two fields, and their width, in pixels
LINE = 38  # pixels between the parts of a step
ALTERNATIVE = (
    "Two steps from top to bottom with the fields u and next. In stage 05, each step refreshes the halo of u, "
    "updates next and copies next back to u, with six barriers in total. In stage 06, the fields swap their "
    "roles, so there are four barriers and no copy.")
CAPTION = (
    "Time runs downwards, and green bars are barriers. In stage 06, the field that one step wrote is refreshed and read in "
    "the next step. After an even number of steps, the result is in u, where the initial field was.")


def bar(canvas, y):
    """Draws a barrier."""
    canvas.line((LEFT - 14, y), (RIGHT + WIDTH + 14, y), colour=GREEN, width=3)


def refresh(canvas, x, y):
    """Draws a field whose halo is refreshed."""
    canvas.box(x, y, WIDTH, 22, "refresh halo", ORANGE, 0.32, edge=0.5, size=SMALL)
    bar(canvas, y + 29)


def move(canvas, y, words, colour, is_back):
    """Draws an operation that reads one entire field and writes the other."""
    ends = (LEFT + WIDTH, RIGHT)[::-1 if is_back else 1]
    for x, role in ((LEFT, "written" if is_back else "read"), (RIGHT, "read" if is_back else "written")):
        canvas.box(x, y, WIDTH, 22, role, colour, 0.32 if role == "written" else 0.12, edge=0.5, size=SMALL)
    canvas.arrow((ends[0], y + 15), (ends[1], y + 15), colour, 1.6)
    canvas.text((LEFT + WIDTH + RIGHT) / 2, y + 5, words, SMALL)
    bar(canvas, y + 29)


def draw_steps(canvas, name, is_swapped):
    """Draws two steps of stage 05, or of stage 06 if the fields swap their roles."""
    canvas.text((LEFT + RIGHT + WIDTH) / 2, 12, name, bold=True)
    for x, field in ((LEFT, "u"), (RIGHT, "next")):
        canvas.text(x + WIDTH / 2, 38, field, bold=True)
    for step in range(2):
        parts = 2 if is_swapped else 3
        y = 58 + (parts * LINE + 12) * step
        canvas.text(LEFT - 24, y + parts * LINE / 2 - 8, f"step {step}", SMALL, rotation=90)
        is_back = is_swapped and step == 1
        refresh(canvas, RIGHT if is_back else LEFT, y)
        move(canvas, y + LINE, "update", BLUE, is_back)
        if not is_swapped:
            move(canvas, y + 2 * LINE, "copy", INK, True)


def draw(canvas):
    """Draws both panels."""
    for is_swapped, panel in enumerate(canvas.panels(2, 300)):
        left, top = (0, 0) if canvas.is_wide else (10, 30 * is_swapped)
        draw_steps(panel.part(left, top), "06: fields swap their roles" if is_swapped else "05: with a copy back", is_swapped)
