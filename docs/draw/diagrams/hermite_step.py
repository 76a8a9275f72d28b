"""The forces on a body of the workload nbody, and the three phases of a step of the Hermite scheme."""

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "The forces on a body, and a step in time"
HEIGHT = {"wide": 250, "narrow": 500}
TARGET = (150, 136)
SOURCES = ((60, 62), (78, 196), (206, 206), (276, 78))  # the last source is body j
ALTERNATIVE = (
    "First: body i with four source bodies around it and an arrow towards each of them. Second: the three phases "
    "of a step, predict, evaluate and correct, between the beginning and the end of the step. The forces at its "
    "end lead to the next step.")
CAPTION = (
    "First: every source body pulls body i towards itself; a term of the sum depends on the distance vector r and on the velocities. Second: "
    "the phases of a step. Only the phase in the middle visits all pairs; the other two visit each body once.")


def draw_forces(canvas):
    """Draws body i and the bodies that pull it."""
    canvas.text(170, 12, "the forces on body i", bold=True)
    for n, (x, y) in enumerate(SOURCES):
        is_named = n == len(SOURCES) - 1
        dx, dy = x - TARGET[0], y - TARGET[1]
        share = 0.78 if is_named else 0.45
        canvas.arrow((TARGET[0] + 0.1 * dx, TARGET[1] + 0.1 * dy), (TARGET[0] + share * dx, TARGET[1] + share * dy), GREEN, 1.6)
        canvas.dot(x, y, 7, BLUE)
        canvas.text(x, y - 18, "source body j" if is_named else "source body", SMALL)
    canvas.text((TARGET[0] + SOURCES[-1][0]) / 2 + 6, (TARGET[1] + SOURCES[-1][1]) / 2 + 16, "r", SMALL, ha="left")
    canvas.dot(*TARGET, 9, ORANGE)
    canvas.text(TARGET[0] + 16, TARGET[1] + 3, "body i", SMALL, ha="left")


def draw_step(canvas):
    """Draws the computations of a step, from left to right."""
    canvas.text(170, 12, "a step from time τ to τ + t", bold=True)
    phases = (("predict", "for each body", ORANGE), ("evaluate", "for each pair", GREEN), ("correct", "for each body", ORANGE))
    left, width, pitch, top = 14, 84, 114, 104
    for n, (name, extent, colour) in enumerate(phases):
        x = left + pitch * n
        canvas.box(x, top, width, 34, name, colour, 0.35, edge=0.6)
        canvas.text(x + width / 2, top + 48, extent, SMALL)
        if n:
            canvas.arrow((x - pitch + width + 3, top + 17), (x - 3, top + 17))
    first, second, third = (left + pitch * n + width / 2 for n in range(3))
    canvas.text(first, 46, "x, v, a₀, j₀", SMALL)
    canvas.arrow((first, 56), (first, top - 3))
    canvas.text((first + second) / 2, top - 12, "guesses", SMALL)
    canvas.text((second + third) / 2, top - 12, "a₁, j₁", SMALL)
    canvas.text(third, 200, "x′, v′", SMALL)
    canvas.arrow((third, top + 58), (third, 190))
    canvas.text(second - 24, 200, "a₁, j₁ are a₀, j₀ of the next step", SMALL)
    canvas.arrow((second, top + 58), (second, 190), GREEN, dashed=True)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_forces, draw_step)):
        draw_one(panel)
