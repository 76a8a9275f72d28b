"""The tiles of stage 20 of local volatility: eight strips that pass through four threads, down and up."""

from draw.canvas import BLUE, GREEN, SMALL

TITLE = "Strips pass through the threads, down and back up"
HEIGHT = {"wide": 216, "narrow": 204}
THREADS, STRIPS = 4, 8
BEGIN, UNIT, DOWN = {"wide": 76, "narrow": 34}, {"wide": 28.5, "narrow": 13.4}, {"wide": 34, "narrow": 28}
ALTERNATIVE = (
    "A timeline of four threads. Thread 0 eliminates strips 0 to 7 one after the other, and each further thread "
    "starts one tile later. After its last elimination, thread 3 substitutes strips 0 to 7, and the other threads "
    "follow in reverse order. Threads wait at the beginning, between the two directions, and at the end.")
CAPTION = (
    "The numbers are strips. Each thread eliminates a strip one tile later than the thread above it, and substitutes a strip one tile later "
    "than the thread below it. Threads wait in the gaps.")


def draw(canvas):
    """Draws a lane for each thread, and a key."""
    width = "wide" if canvas.is_wide else "narrow"
    begin, unit, down = BEGIN[width], UNIT[width], DOWN[width]
    turn = STRIPS + THREADS - 1  # the step in which the last thread has eliminated all strips
    for thread in range(THREADS):
        y = 20 + down * thread
        canvas.text(begin - 8, y + down / 2 - 3, f"thread {thread}" if canvas.is_wide else f"t{thread}", SMALL, ha="right")
        for first, colour in ((thread, BLUE), (turn + THREADS - 1 - thread, GREEN)):
            for strip in range(STRIPS):
                canvas.box(begin + unit * (first + strip) + 1, y, unit - 2, down - 8, f"{strip}", colour, 0.35, size=SMALL, edge=0.6)
    bottom = 20 + down * THREADS + 6
    canvas.arrow((begin, bottom), (begin + unit * 2 * turn, bottom))
    canvas.text(begin + unit * turn, bottom + 12, "time", SMALL)
    key = canvas.part(190 if canvas.is_wide else 34, bottom + 30)
    entries = (BLUE, 0.35, "elimination, down the rows"), (GREEN, 0.35, "substitution, up the rows")
    for n, lines in enumerate((entries,) if canvas.is_wide else ((entries[0],), (entries[1],))):
        key.key(0, 20 * n, *lines)
