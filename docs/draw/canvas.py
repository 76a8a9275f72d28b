"""The drawing functions for the scripts in docs/draw/diagrams: boxes, arrows and words, in pixels from the upper left
corner."""

import dataclasses
import typing

from matplotlib.colors import to_rgba
from matplotlib.patches import Arc, FancyArrowPatch, Rectangle

from draw.plots import COLOURS, INK

SMALL = 9.5  # font size in pixels, the smallest that is legible on a phone
SIZE = 10.5
BLUE, ORANGE, GREEN, PURPLE = COLOURS[:4]


@dataclasses.dataclass
class Diagram:
    """A diagram: its words, its height in either width, and the function that draws it on a canvas."""

    title: str
    alternative: str
    caption: str
    height: dict
    draw: typing.Callable


@dataclasses.dataclass
class Canvas:
    """A drawing, or the part of it that begins at (left, top)."""

    axes: typing.Any
    is_wide: bool
    width: float
    height: float
    left: float = 0
    top: float = 0

    def part(self, left, top, width=0, height=0):
        """A canvas within this canvas."""
        return dataclasses.replace(self, left=self.left + left, top=self.top + top, width=width, height=height)

    def panels(self, count, width=340):
        """Yields parts of equal width, side by side if they fit, otherwise one below the other."""
        for i in range(count):
            if self.is_wide:
                share = self.width / count
                yield self.part(i * share + (share - width) / 2, 0, width, self.height)
            else:
                yield self.part(0, i * self.height / count, width, self.height / count)

    def text(self, x, y, words, size=SIZE, ha="center", colour=INK, bold=False, rotation=0):
        """Draws lines of words that are centred at a point, begin there, or end there."""
        lines = words.split("\n")
        for i, line in enumerate(lines):
            down = 1.25 * size * (i - (len(lines) - 1) / 2) + (0.36 * size if not rotation else 0)
            self.axes.text(self.left + x, self.top + y + down, line, fontsize=size, ha=ha,
                           va="center" if rotation else "baseline", color=colour, rotation=rotation,
                           fontweight="bold" if bold else "normal", parse_math=False)

    def box(self, x, y, width, height, words="", colour=INK, fill=0.0, edge=0.8, dashed=False, size=SIZE,
            bold=False):
        """Draws a rectangle with words in its middle; `fill` is an opacity and `edge` a line width."""
        if fill or edge:
            self.axes.add_patch(Rectangle(
                (self.left + x, self.top + y), width, height, facecolor=to_rgba(colour, fill) if fill else "none",
                edgecolor=colour if edge else "none", linewidth=edge, linestyle="--" if dashed else "-"))
        if words:
            self.text(x + width / 2, y + height / 2, words, size, bold=bold)

    def line(self, *points, colour=INK, width=0.8, dashed=False, opacity=1):
        """Draws a line through points."""
        xs, ys = zip(*points)
        self.axes.plot([self.left + x for x in xs], [self.top + y for y in ys], color=colour,
                       linewidth=width, linestyle="--" if dashed else "-", alpha=opacity)

    def arrow(self, start, end, colour=INK, width=1, bend=0, dashed=False, both=False):
        """Draws an arrow from one point to another."""
        (x0, y0), (x1, y1) = start, end
        self.axes.add_patch(FancyArrowPatch(
            (self.left + x0, self.top + y0), (self.left + x1, self.top + y1), color=colour, linewidth=width,
            arrowstyle="<|-|>" if both else "-|>", mutation_scale=8, shrinkA=0, shrinkB=0,
            linestyle="--" if dashed else "-", connectionstyle=f"arc3,rad={bend}"))

    def dot(self, x, y, radius=3, colour=INK, hollow=False):
        """Draws a dot, full or hollow."""
        self.axes.plot(self.left + x, self.top + y, "o", color=colour, markersize=2 * radius,
                       markerfacecolor="none" if hollow else colour)

    def shape(self, points, colour=INK, fill=0.15, edge=0.8):
        """Draws a polygon."""
        xs, ys = zip(*points)
        self.axes.fill([self.left + x for x in xs], [self.top + y for y in ys], facecolor=colour, alpha=fill,
                       linewidth=0)
        if edge:
            self.line(*points, points[0], colour=colour, width=edge)

    def loop(self, x, y, radius, start, end, colour=INK, width=1):
        """Draws an arc of a circle; the angles are in degrees, clockwise from the right."""
        self.axes.add_patch(Arc((self.left + x, self.top + y), 2 * radius, 2 * radius, theta1=start, theta2=end,
                                color=colour, linewidth=width))

    def frame(self, box, across, xs, x_name, down, ys, y_name):
        """Draws the axes of a field; `across` and `down` map values to positions."""
        left, top, width, height = box
        self.box(*box)
        for x in xs:
            self.line((across(x), top + height), (across(x), top + height + 4))
            self.text(across(x), top + height + 13, f"{x:g}", SMALL)
        for y in ys:
            self.line((left - 4, down(y)), (left, down(y)))
            self.text(left - 8, down(y), f"{y:g}".replace("-", "−"), SMALL, ha="right")
        self.text(left + width / 2, top + height + 30, x_name, SMALL)
        self.text(left - 30, top + height / 2, y_name, SMALL, rotation=90)

    def heights(self, across, down, values, levels, colour=BLUE, lines=True):
        """Draws a field of values over a rectangle, darker with each level that a value exceeds."""
        xs, ys = [self.left + x for x in across], [self.top + y for y in down]
        most = max(map(max, values))
        for level in levels:
            if level < most:
                self.axes.contourf(xs, ys, values, levels=[level, most + 1], colors=[colour], alpha=0.13)
        if lines:
            self.axes.contour(xs, ys, values, levels=levels, colors=[colour], linewidths=0.8)

    def cells(self, across, down, values, levels, colour=BLUE):
        """Draws a value per cell, darker with each level that a value exceeds; the edges of the cells are given."""
        def both_ends(edges):
            return [x for a, b in zip(edges, edges[1:]) for x in (a + (b - a) / 1000, b - (b - a) / 1000)]

        doubled = [[value for value in row for _ in range(2)] for row in values for _ in range(2)]
        self.heights(both_ends(across), both_ends(down), doubled, levels, colour, lines=False)

    def lane(self, y, name, begin, unit, *parts):
        """Draws a line of a timeline that starts at `begin`. Its parts are (first, length, words, colour)."""
        self.text(0, y + 12, name, SMALL, ha="left")
        for first, length, words, colour in parts:
            self.box(begin + unit * first, y, unit * length - 2, 24, words, colour, 0.32, edge=0.5, size=SMALL)

    def key(self, x, y, *entries, gap=14):
        """Draws the meaning of the colours, one entry after the other: (colour, opacity, words)."""
        for colour, fill, words in entries:
            self.box(x, y - 5, 10, 10, colour=colour, fill=fill)
            self.text(x + 15, y, words, SMALL, ha="left")
            x += 15 + 5.6 * len(words) + gap
