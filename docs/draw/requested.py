r"""Draws the diagrams that the pages request, as SVG in the colours of the page.

A page requests a diagram by the name of its file, in a comment at the beginning of a line. Words that replace the diagram
on a code host may precede the comment (see book/hosted.py):

    <!-- diagram.NAME.html -->

The script docs/draw/diagrams/NAME.py draws this diagram. TITLE, ALTERNATIVE and CAPTION describe its contents in words,
HEIGHT contains its height for both widths, and the function draw(canvas) draws it; see canvas.py. A script must not
contain times, because times come from recordings. The following diagrams are drawn from recordings:

    <!-- map.MACHINE.WORKLOAD.DATASET.PRECISION.html -->
    <!-- timeline.MACHINE.WORKLOAD.DATASET.PRECISION.html -->
    <!-- timeline.MACHINE.WORKLOAD.DATASET.PRECISION.STAGE.STAGE.html -->
    <!-- heat.MACHINE.SWEEP.PRECISION.STAGE.html -->

maps.py draws maps and timelines. A map shows the stages of a workload and the step from each stage to the next. A
timeline shows the phases of all stages, or of the given stages, together with the intervals that overlap the phases.
heat.py draws the time of a stage over two parameters.
"""

import importlib.util
import re

import matplotlib
from matplotlib.figure import Figure

from book import hosted
from draw import heat, maps, plots, together
from draw.canvas import Canvas, Diagram
from measure import figures

REQUEST = re.compile(r"^\\htmlinclude ((diagram|map|timeline|heat)\.(\S+)\.html)", re.MULTILINE)
KINDS = {"map": maps.map_of_stages, "timeline": maps.timeline, "heat": heat.heat_map}


def requests(pages):
    """Yields page, file, kind and name of the diagrams that pages request."""
    for page in filter(lambda path: path.exists(), pages):
        for file, kind, name in REQUEST.findall(hosted.read(page)):
            yield page, file, kind, name


def scripts(root):
    """The drawing scripts, by name."""
    return {path.stem: path for path in sorted((root / "docs" / "draw" / "diagrams").glob("*.py"))}


def load(path):
    """The diagram that a script defines."""
    spec = importlib.util.spec_from_file_location(f"diagram_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Diagram(module.TITLE, module.ALTERNATIVE, module.CAPTION, module.HEIGHT, module.draw)


def svg(diagram, name, width):
    """A diagram as an element of a page."""
    across, down = plots.WIDTHS[width], diagram.height[width]
    with matplotlib.rc_context(plots.STYLE):
        figure = Figure((across / 72, down / 72))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, across), ylim=(down, 0))
        axes.set_axis_off()
        diagram.draw(Canvas(axes, width == "wide", across, down))
        for artist in axes.get_children():
            artist.set_clip_on(False)  # parts beyond the edges stay visible
        return plots.element(figure, name, width, diagram.title, diagram.alternative)


def diagram_html(diagram, name):
    """A diagram in both widths with its caption."""
    return plots.with_caption([svg(diagram, name, width) for width in plots.WIDTHS], diagram.caption,
                              "plot diagram")


def find(root, kind, name, workloads, results):
    """The diagram with a name, from a script or from recordings."""
    if kind in KINDS:
        return KINDS[kind](name.split("."), workloads, results)
    if name not in scripts(root):
        raise figures.UnknownKey(f"there is no docs/draw/diagrams/{name}.py")
    return load(scripts(root)[name])


def write(root, pages, workloads, results, directory):
    """Draws every diagram that a page requests. Raises an exception if a diagram cannot be drawn, so that the book is not
    built."""
    asked = {}
    for page, file, kind, name in requests(pages):
        try:
            asked[file] = find(root, kind, name, workloads, results), file.removesuffix(".html")
        except figures.UnknownKey as error:
            raise SystemExit(f"{page.relative_to(root)}: {file}: {error}")
    together.write(directory, asked, diagram_html)
