"""How sixteen threads add up their partial sums of four rows, in stage 11 of the triangular solve."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "Sums of four rows, by sixteen threads"
HEIGHT = {"wide": 296, "narrow": 296}
THREADS, ROWS = 16, 4
COLOURS = [BLUE, ORANGE, GREEN, PURPLE]
WIDTH, DOWN = 19, 16
ALTERNATIVE = (
    "Sixteen threads with partial sums of four rows. In the exchange of distance 8, each thread keeps two of its "
    "rows, and in the exchange of distance 4, it keeps one. In two more exchanges, the four threads of each row "
    "add up their sums.")
CAPTION = (
    "A column is a thread, and a cell is its sum of a row. The sums contain the parts of 1, 2, 4, 8 and 16 threads, and become "
    "darker. A thread sends 2 + 1 + 1 + 1 = 5 values. In the last two exchanges, each thread has only one row left, so both "
    "partners obtain the same sum.")


def rows_of(thread, exchanges):
    """The rows of which a thread still has partial sums after a number of exchanges."""
    rows = list(range(ROWS))
    for n in range(min(exchanges, 2)):
        half = len(rows) // 2
        rows = rows[half:] if thread // (THREADS // 2 >> n) % 2 else rows[:half]
    return rows


def draw(canvas):
    """Draws threads before the exchanges, and after each of them."""
    here = canvas.part((canvas.width - WIDTH * THREADS) / 2, 24)
    here.text(WIDTH * THREADS / 2, -12, "each thread has partial sums of four rows", SMALL)
    y = 0
    for exchanges in range(5):
        if exchanges:
            distance, numbers = THREADS >> exchanges, (2, 1, 1, 1)[exchanges - 1]
            here.text(WIDTH * THREADS / 2, y + 15, f"distance {distance}: {numbers} sent, {numbers} received", SMALL)
            y += 30
        for thread in range(THREADS):
            for n, row in enumerate(rows_of(thread, exchanges)):
                here.box(WIDTH * thread, y + DOWN * n, WIDTH - 2, DOWN - 2, f"{row}", COLOURS[row], 0.08 + 0.13 * exchanges, edge=0.5,
                         size=SMALL)
        y += DOWN * len(rows_of(0, exchanges))
