"""How the loop over options moves inwards from stage 01 to stage 03 of local volatility."""

from draw.canvas import BLUE, GREEN, SMALL

TITLE = "The loops of stages 01 to 03"
HEIGHT = {"wide": 320, "narrow": 980}
ALTERNATIVE = (
    "Three nests of loops as frames. In stage 01, the parallel loop over options is outside and contains private "
    "arrays. In stage 02, all arrays are allocated before it. In stage 03, the sequential loop over time is "
    "outside and contains seven parallel loops over options.")
CAPTION = (
    "Blue loops are parallel, grey loops are sequential, and arrays are green. Expansion (02) moves the arrays out "
    "of the loop over options. Interchange and distribution (03) put a loop over options around each nest.")

NESTS = ("coefficients", "explicit x", "explicit y", "implicit x, solve", "implicit y, solve")
KERNELS = ("coefficients", "explicit x", "explicit y", "implicit x", "solve x", "implicit y", "solve y")


def draw_outer(canvas, name, arrays_inside):
    """Draws stages 01 and 02: options outside, time inside."""
    canvas.text(126, 12, name, bold=True)
    arrays = (20, 56) if arrays_inside else (6, 28)
    canvas.box(6, 28 if arrays_inside else 66, 240, 276 if arrays_inside else 238, colour=BLUE, fill=0.14)
    canvas.text(126, 42 if arrays_inside else 80, "for each option k")
    canvas.box(arrays[0], arrays[1], 252 - 2 * arrays[0], 28,
               "R, U, V, a, b, c … (private)" if arrays_inside else "R[k], U[k], V[k], a[k], b[k], c[k] …",
               GREEN, 0.16, size=SMALL)
    top = 94
    canvas.box(20, top, 212, 200, fill=0.07)
    canvas.text(126, top + 14, "for each time step g")
    for n, nest in enumerate(NESTS):
        canvas.box(34, top + 28 + 33 * n, 184, 27, nest)


def draw_distributed(canvas):
    """Draws stage 03: time outside, options around each nest."""
    canvas.text(126, 12, "03 distributed", bold=True)
    canvas.box(6, 28, 240, 28, "R[k], U[k], V[k], a[k], b[k], c[k] …", GREEN, 0.16, size=SMALL)
    canvas.box(6, 66, 240, 238, fill=0.07)
    canvas.text(126, 80, "for each time step g")
    for n, nest in enumerate(KERNELS):
        canvas.box(20, 93 + 29.5 * n, 212, 25, f"for each k: {nest}", BLUE, 0.14)


def draw(canvas):
    """Draws three panels."""
    panels = list(canvas.panels(3, 252))
    if not canvas.is_wide:
        panels = [panel.part((340 - 252) / 2, 0) for panel in panels]
    draw_outer(panels[0], "01 OpenMP", True)
    draw_outer(panels[1], "02 hoisted", False)
    draw_distributed(panels[2])
