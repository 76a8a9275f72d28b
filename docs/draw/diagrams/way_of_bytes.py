"""The way of bytes from the second-level cache to the tensor cores, in stages 12 and 13 of AᵀA."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, SMALL

TITLE = "The way of bytes to the tensor cores"
HEIGHT = {"wide": 326, "narrow": 660}
ALTERNATIVE = (
    "Two ways from top to bottom. Stage 12: from the second-level cache into registers, from there into shared memory, into registers "
    "again, and to the tensor cores; eight warps do all of it, with a meeting before and behind the multiplication. Stage 13: from "
    "the second-level cache straight into one of four places in shared memory, by bulk copies that one thread starts, and from there "
    "straight to the tensor cores, for two warpgroups; one place is multiplied from while three others are full or on their way.")
CAPTION = (
    "In stage 12 the same eight warps carry, meet and multiply in turns, and bytes go through registers twice. In stage 13 one thread "
    "starts the copies for steps to come, and what it copies is multiplied where it lies. Sums stay in registers in both.")
STATIONS = {"cache": 26, "first": 76, "shared": 130, "second": 188, "cores": 240}


def station(canvas, name, words, colour, fill=0.2, width=220, height=28):
    """A box where bytes stop."""
    canvas.box(160 - width / 2, STATIONS[name], width, height, words, colour, fill, size=SMALL)


def way(canvas, start, end, words):
    """An arrow from one station down to another, with what moves the bytes."""
    canvas.arrow((160, start), (160, end), width=1.4)
    canvas.text(168, (start + end) / 2, words, SMALL, ha="left")


def draw_carried(canvas):
    """Stage 12: through registers, twice."""
    canvas.text(160, 10, "12: carried by those who multiply", bold=True)
    station(canvas, "cache", "second-level cache", INK, 0.06)
    station(canvas, "first", "registers", ORANGE, 0.45, 110)
    station(canvas, "shared", "shared memory, one place: 48 KB", BLUE)
    station(canvas, "second", "registers", ORANGE, 0.45, 110)
    station(canvas, "cores", "tensor cores, by mma", GREEN, 0.35)
    for start, end, words in (("cache", "first", "loads"), ("first", "shared", "stores, then all meet"),
                              ("shared", "second", "loads, word by word"), ("second", "cores", "")):
        way(canvas, STATIONS[start] + 28, STATIONS[end] - 1, words)
    canvas.text(160, 286, "eight warps: 16 × 256 sums each; then all meet", SMALL)


def draw_fetched(canvas):
    """Stage 13: four places, and two warpgroups that read them."""
    canvas.text(160, 10, "13: fetched by somebody else", bold=True)
    station(canvas, "cache", "second-level cache", INK, 0.06)
    for n, words in enumerate(("step k", "k + 1", "k + 2", "k + 3")):
        left = 12 + 76 * n
        canvas.box(left, STATIONS["shared"], 68, 28, words, BLUE if n else ORANGE, 0.2 if n else 0.45, size=SMALL)
        if n:
            canvas.arrow((160 + 12 * (n - 1.5), STATIONS["cache"] + 28), (left + 34, STATIONS["shared"] - 1), width=1.4)
    canvas.text(12, 92, "bulk copies,\nstarted by one thread", SMALL, ha="left")
    canvas.text(316, 170, "shared memory, four places of 48 KB", SMALL, ha="right")
    for n in (0, 1):
        canvas.box(12 + 150 * n, STATIONS["cores"], 142, 34, f"warpgroup {n}:\n64 × 256 sums", GREEN, 0.35, size=SMALL)
        canvas.arrow((34 + 24 * n, STATIONS["shared"] + 28), (46 + 160 * n, STATIONS["cores"] - 1), width=1.4)
    canvas.text(160, 288, "tensor cores, by wgmma: all 256 columns for both", SMALL)


def draw(canvas):
    """Two panels."""
    for panel, draw_one in zip(canvas.panels(2), (draw_carried, draw_fetched)):
        draw_one(panel.part(10, 4))
