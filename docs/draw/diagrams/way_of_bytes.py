"""The path of the data from the L2 cache to the tensor cores, in stages 12 and 13 of AᵀA."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "The way of bytes to the tensor cores"
HEIGHT = {"wide": 326, "narrow": 660}
ALTERNATIVE = (
    "Two ways of bytes from the L2 cache to the tensor cores. In stage 12, they pass through registers, shared "
    "memory and registers again, between two barriers. In stage 13, bulk copies fill four buffers in shared "
    "memory, from which the tensor cores read directly.")
CAPTION = (
    "In stage 12, the same eight warps copy, synchronise and multiply one after the other, and each byte passes through registers twice. "
    "In stage 13, one thread starts the copies for later steps, and the tensor cores read the bytes from shared memory. Sums stay in "
    "registers in both stages.")
STATIONS = {"cache": 26, "first": 76, "shared": 130, "second": 188, "cores": 240}


def station(canvas, name, words, colour, fill=0.2, width=220, height=28):
    """Draws a box for a location in which bytes are stored."""
    canvas.box(160 - width / 2, STATIONS[name], width, height, words, colour, fill, size=SMALL)


def way(canvas, start, end, words):
    """Draws an arrow from one box down to another, with the operation that moves the bytes."""
    canvas.arrow((160, start), (160, end), width=1.4)
    canvas.text(168, (start + end) / 2, words, SMALL, ha="left")


def draw_carried(canvas):
    """Draws stage 12: the data pass through registers twice."""
    canvas.text(160, 10, "12: the multiplying warps copy", bold=True)
    station(canvas, "cache", "L2 cache", INK, 0.06)
    station(canvas, "first", "registers", ORANGE, 0.45, 110)
    station(canvas, "shared", "shared memory, one buffer: 48 KB", BLUE)
    station(canvas, "second", "registers", ORANGE, 0.45, 110)
    station(canvas, "cores", "tensor cores, by mma", GREEN, 0.35)
    for start, end, words in (("cache", "first", "loads"), ("first", "shared", "stores, then a barrier"),
                              ("shared", "second", "loads, word by word"), ("second", "cores", "")):
        way(canvas, STATIONS[start] + 28, STATIONS[end] - 1, words)
    canvas.text(160, 286, "eight warps: 16 × 256 sums each; then a barrier", SMALL)


def draw_fetched(canvas):
    """Draws stage 13: four buffers, and the two warpgroups that read them."""
    canvas.text(160, 10, "13: the copy engine copies", bold=True)
    station(canvas, "cache", "L2 cache", INK, 0.06)
    for n, words in enumerate(("step k", "k + 1", "k + 2", "k + 3")):
        left = 12 + 76 * n
        canvas.box(left, STATIONS["shared"], 68, 28, words, BLUE if n else ORANGE, 0.2 if n else 0.45, size=SMALL)
        if n:
            canvas.arrow((160 + 12 * (n - 1.5), STATIONS["cache"] + 28), (left + 34, STATIONS["shared"] - 1), width=1.4)
    canvas.text(12, 92, "bulk copies,\nstarted by one thread", SMALL, ha="left")
    canvas.text(316, 170, "shared memory, four buffers of 48 KB", SMALL, ha="right")
    for n in (0, 1):
        canvas.box(12 + 150 * n, STATIONS["cores"], 142, 34, f"warpgroup {n}:\n64 × 256 sums", GREEN, 0.35, size=SMALL)
        canvas.arrow((34 + 24 * n, STATIONS["shared"] + 28), (46 + 160 * n, STATIONS["cores"] - 1), width=1.4)
    canvas.text(160, 288, "tensor cores, by wgmma: all 256 columns for both", SMALL)


def draw(canvas):
    """Draws both panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_carried, draw_fetched)):
        draw_one(panel.part(10, 4))
