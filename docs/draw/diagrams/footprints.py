"""The elements of A and B that a slice of a matrix product needs, with cuts along i and j, and with a cut along k."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "Footprints of a slice of C = A B"
HEIGHT = {"wide": 340, "narrow": 680}
ALTERNATIVE = (
    "A on the left, B above and C in the corner, twice. If i and j are cut, a slice needs some rows of A and some "
    "columns of B, and computes a rectangle of C. If k is cut, a slice adds to all of C, which is sent and "
    "fetched for each slice.")
CAPTION = (
    "First: along i and j, a slice writes cells that no other slice accesses. Second: along k, every slice reads and writes all of "
    "C. C is a sum, so the slices may run one at a time in any order. To run concurrently, they need partial sums.")

LONG, SHORT = 120, 96  # the sides of the matrices: rows of A and columns of B; and k
GAP = 14


def matrices(canvas, title):
    """Draws the three empty matrices; returns parts of the canvas for A, B and C."""
    canvas.text(170, 12, title, bold=True)
    a = canvas.part(46, 62 + SHORT + GAP, SHORT, LONG)
    b = canvas.part(46 + SHORT + GAP, 62, LONG, SHORT)
    c = canvas.part(46 + SHORT + GAP, 62 + SHORT + GAP, LONG, LONG)
    for part, name, across, down in ((a, "A", "k", "i"), (b, "B", "j", "k"), (c, "C", "", "")):
        part.box(0, 0, part.width, part.height, edge=0.8)
        if part is c:
            part.text(part.width + 12, part.height / 2, name, bold=True)
        elif part is b:
            part.text(part.width + 12, part.height / 2, name, bold=True)
            part.text(part.width / 2, -10, f"{across} →", SMALL)
            part.text(-12, part.height / 2, f"{down} ↓", SMALL)
        else:
            part.text(-20, part.height / 2, f"{down} ↓", SMALL)
            part.text(part.width / 2, -10, f"{name}", bold=True)
            part.text(part.width / 2, part.height + 12, f"{across} →", SMALL)
    return a, b, c


def draw_elements(canvas):
    """Draws a slice of i and of j."""
    a, b, c = matrices(canvas, "cut along i and j")
    top, high, left, wide = 40, 40, 60, 30
    a.box(0, top, SHORT, high, "sent", BLUE, 0.3, size=SMALL)
    b.box(left, 0, wide, SHORT, "sent", BLUE, 0.3, size=SMALL)
    c.box(left, top, wide, high, "", GREEN, 0.45)
    for k in range(1, 3):
        c.line((0, 40 * k), (LONG, 40 * k), width=0.4, dashed=True)
    for k in range(1, 4):
        c.line((30 * k, 0), (30 * k, LONG), width=0.4, dashed=True)


def draw_terms(canvas):
    """Draws a slice of k."""
    a, b, c = matrices(canvas, "cut along k")
    first, size = 32, 32
    a.box(first, 0, size, LONG, "sent", BLUE, 0.3, size=SMALL)
    b.box(0, first, LONG, size, "sent", BLUE, 0.3, size=SMALL)
    c.box(0, 0, LONG, LONG, "sent and\nfetched", ORANGE, 0.4, size=SMALL)
    for k in range(1, 3):
        a.line((32 * k, 0), (32 * k, LONG), colour=INK, width=0.4, dashed=True)
        b.line((0, 32 * k), (LONG, 32 * k), colour=INK, width=0.4, dashed=True)


def draw(canvas):
    """Draws two panels, and the meaning of the colours."""
    for panel, draw_one in zip(canvas.panels(2), (draw_elements, draw_terms)):
        draw_one(panel)
        panel.key(24, 322, (BLUE, 0.3, "sent"), (GREEN, 0.45, "fetched"), (ORANGE, 0.4, "sent and fetched"))
