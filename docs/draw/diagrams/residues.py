"""Stage 10 of AᵀA: the conversion from FP64 to residues and back, and one product for three moduli."""

import math

from draw.canvas import BLUE, GREEN, ORANGE, SMALL

TITLE = "From FP64 to products of residues and back"
HEIGHT = {"wide": 362, "narrow": 744}
MODULI = (256, 255, 253)
X, Y = 300, -41


def residue(number, modulus):
    """The residue of smallest magnitude, which fits in a byte."""
    return (number + modulus // 2) % modulus - modulus // 2


def together(residues):
    """The integer of smallest magnitude with these residues (Chinese remainder theorem)."""
    product = math.prod(MODULI)
    weights = [product // p * pow(product // p, -1, p) for p in MODULI]
    return residue(sum(r * w for r, w in zip(residues, weights)), product)


def minus(number):
    """A number with a typographical minus sign."""
    return f"{number}".replace("-", "−")


PRODUCTS = [residue(residue(X, p) * residue(Y, p), p) for p in MODULI]
RESULT = together(PRODUCTS)

ALTERNATIVE = (
    "First, from top to bottom: A in FP64; scale_columns and take_apart convert it to fifteen matrices of bytes; "
    "multiply_residues computes fifteen products; from these, C results in FP64. "
    f"Second, an example: {X} times {minus(Y)} modulo " + "; ".join(
        f"{p}: {minus(residue(X, p))} times {minus(residue(Y, p))} has residue {minus(r)}"
        for p, r in zip(MODULI, PRODUCTS)) + f". The reconstruction gives {minus(RESULT)}, the product.")
CAPTION = (
    "First: the data between the steps of the stage. Second: one product with three of the fifteen "
    "moduli. Residues are between −128 and 127. The stage does this for sums of products, whose magnitude "
    "must stay below half the product of the moduli.")


def layers(canvas, y, colour, words):
    """Draws a stack of matrices."""
    for m in (4, 3, 2, 1, 0):
        canvas.box(100 + 5 * m, y + 12 - 3 * m, 120, 34, colour=colour, fill=0.1, edge=0.6)
    canvas.text(160, y + 29, words, SMALL)


def draw_kernels(canvas):
    """Draws the kernels and the data between them."""
    canvas.text(170, 12, "the kernels", bold=True)
    canvas.box(110, 30, 100, 32, "A, FP64", GREEN, 0.18)
    for y, words in ((64, "scale_columns: powers of two"), (82, "take_apart: residues"), ):
        canvas.text(172, y + 11, words, SMALL, ha="left")
    canvas.arrow((160, 62), (160, 104))
    layers(canvas, 104, BLUE, "15 × A, bytes")
    canvas.arrow((160, 150), (160, 198))
    canvas.text(172, 168, "multiply_residues: 15 AᵀA,", SMALL, ha="left")
    canvas.text(172, 182, "sums in 32 bits", SMALL, ha="left")
    layers(canvas, 198, ORANGE, "15 × C, bytes")
    canvas.arrow((160, 244), (160, 296))
    canvas.text(172, 262, "reconstruction, in 128 bits,", SMALL, ha="left")
    canvas.text(172, 276, "rounded once", SMALL, ha="left")
    canvas.box(110, 296, 100, 32, "C, FP64", GREEN, 0.18)


def draw_example(canvas):
    """Draws one product, computed modulo three numbers."""
    canvas.text(170, 12, "a product", bold=True)
    canvas.box(100, 30, 140, 32, f"{X} × {minus(Y)}", GREEN, 0.18)
    for n, (p, result) in enumerate(zip(MODULI, PRODUCTS)):
        x = 60 + 110 * n
        canvas.arrow((170, 62), (x, 96))
        canvas.text(x, 108, f"modulo {p}", SMALL)
        canvas.box(x - 48, 120, 96, 30, f"{minus(residue(X, p))} × {minus(residue(Y, p))}", BLUE, 0.14)
        canvas.arrow((x, 150), (x, 198))
        canvas.text(x + 6, 172, f"= {minus(residue(X, p) * residue(Y, p))}", SMALL, ha="left")
        canvas.box(x - 48, 198, 96, 30, minus(result), ORANGE, 0.22)
        canvas.arrow((x, 228), (170, 296))
    canvas.box(100, 296, 140, 32, minus(RESULT), GREEN, 0.18)
    canvas.text(170, 346, "the only integer below half of\n256 · 255 · 253 with these residues", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_kernels, draw_example)):
        draw_one(panel)
