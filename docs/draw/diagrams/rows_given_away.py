"""How sixteen threads add up their parts of four rows, in stage 11 of the triangular solve."""

from draw.canvas import BLUE, GREEN, ORANGE, PURPLE, SMALL

TITLE = "Sums of four rows, by sixteen threads"
HEIGHT = {"wide": 296, "narrow": 296}
THREADS, ROWS = 16, 4
COLOURS = [BLUE, ORANGE, GREEN, PURPLE]
WIDTH, DOWN = 19, 16
ALTERNATIVE = (
    "Sixteen threads beside each other, each with parts of the sums of rows 0 to 3. In the exchange of distance 8 the first eight "
    "keep rows 0 and 1 and give rows 2 and 3 away, the others do the opposite. In that of distance 4 each keeps one row of its two, "
    "so that threads 0 to 3 have row 0, 4 to 7 row 1, 8 to 11 row 2, and 12 to 15 row 3. In two more, of distances 2 and 1, the four "
    "threads of a row add up what they have.")
CAPTION = (
    "A column is a thread, a cell a sum of a row, darker with each exchange: it has the parts of 1, 2, 4, 8 and 16 threads in it. A "
    "thread gives away 2 + 1 + 1 + 1 = 5 numbers. In the last two exchanges nobody has a row left to give away, so both partners get "
    "the same sum.")


def rows_of(thread, exchanges):
    """The rows that a thread still has."""
    rows = list(range(ROWS))
    for n in range(min(exchanges, 2)):
        half = len(rows) // 2
        rows = rows[half:] if thread // (THREADS // 2 >> n) % 2 else rows[:half]
    return rows


def draw(canvas):
    """Threads before the exchanges, and behind each of them."""
    here = canvas.part((canvas.width - WIDTH * THREADS) / 2, 24)
    here.text(WIDTH * THREADS / 2, -12, "each thread has parts of four sums", SMALL)
    y = 0
    for exchanges in range(5):
        if exchanges:
            distance, numbers = THREADS >> exchanges, (2, 1, 1, 1)[exchanges - 1]
            here.text(WIDTH * THREADS / 2, y + 15, f"distance {distance}: {numbers} given, {numbers} taken", SMALL)
            y += 30
        for thread in range(THREADS):
            for n, row in enumerate(rows_of(thread, exchanges)):
                here.box(WIDTH * thread, y + DOWN * n, WIDTH - 2, DOWN - 2, f"{row}", COLOURS[row], 0.08 + 0.13 * exchanges, edge=0.5,
                         size=SMALL)
        y += DOWN * len(rows_of(0, exchanges))
