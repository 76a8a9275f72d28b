"""A slot for sub-tiles in stage 15 of Cholesky, and the phases of its mbarrier."""

from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL

TITLE = "An mbarrier that counts bytes"
HEIGHT = {"wide": 292, "narrow": 292}
BUFFERS, LAST = 6, 7  # the number of slots, and the index of the last sub-tile that is drawn
BEGIN, UNIT = {"wide": 128, "narrow": 92}, {"wide": 74, "narrow": 28}
ASKED, BROUGHT = 1.4, 4  # times at which the copy of sub-tile 6 begins and at which its last bytes have arrived
ALTERNATIVE = (
    "A timeline of slot 0 of six. After a barrier, thread 0 starts the copy of pair 6 and announces 32 KB. While "
    "the copy engine copies, the number of missing bytes falls to zero, which ends a phase of the mbarrier, long "
    "before the threads need pair 6.")
CAPTION = (
    "Slot 0, not to scale, for a tile below the diagonal in f64. The readers of pair 6 wait for the end of phase 6 / 6 = 1, which is "
    "odd. Each of the other slots has its own mbarrier.")


def draw(canvas):
    """Draws the threads, the thread that starts the copies, the copy engine, and the mbarrier."""
    begin, unit = (sizes["wide" if canvas.is_wide else "narrow"] for sizes in (BEGIN, UNIT))
    here = canvas.part(4, 30)

    def x(when):
        return begin + unit * (when + 0.5)

    here.text(0, 12, "256 threads", SMALL, ha="left")
    for s in range(LAST + 1):
        colour, fill = (INK, 0.06) if s % BUFFERS else (ORANGE, 0.4)
        here.box(x(s), 0, unit - 2, 24, f"pair {s}" if canvas.is_wide else f"{s}", colour, fill, edge=0.5, size=SMALL)
    here.lane(60, "thread 0", begin, unit, (1.55, 0.5, "", PURPLE), (LAST + 0.55, 0.5, "", PURPLE))
    here.lane(106, "copy engine", begin, unit, (0, 0.3, "", BLUE),
              (ASKED + 0.7, BROUGHT - ASKED - 0.2, "2 × 16 KB", BLUE), (LAST + 1.2, 0.3, "", BLUE))
    here.text(0, 163, "bytes missing", SMALL, ha="left")
    ask = 1.3
    here.shape([(x(ask), 184), (x(ask), 146), (x(ASKED + 0.3), 146), (x(BROUGHT), 184)], GREEN, 0.3)
    here.shape([(x(LAST + 0.3), 184), (x(LAST + 0.3), 146), (x(LAST + 1), 146), (x(LAST + 1), 184)], GREEN, 0.3)
    here.text(x(ask) - 5, 152, "32 KB", SMALL, ha="right")
    here.line((x(-0.5), 184), (x(LAST + 1), 184), width=0.6)
    here.lane(206, "barrier", begin, unit, (0, 0.3, "", GREEN), (0.3, BROUGHT + 0.2, "phase 1: odd", GREEN),
              (BROUGHT + 0.5, LAST + 1 - BROUGHT, "phase 2: even", GREEN))
    for when in (1, LAST):
        here.line((x(when) - 1, -6), (x(when) - 1, 54), colour=PURPLE, width=1.2, dashed=True)
        here.arrow((x(when) + 2, 40), (x(when) + unit * 0.18, 59), PURPLE, 1.2)
    here.text(x(1) + 0.5 * unit, 44, "all have read pair 0", SMALL, ha="left")
    here.arrow((x(1.42), 85), (x(ASKED + 0.3), 105), PURPLE, 1.2)
    here.text(x(1.7), 74, "copies pair 6", SMALL, ha="left")
    here.arrow((x(BROUGHT), 184), (x(BROUGHT), 205), GREEN, 1.6)
    here.arrow((x(6) - 1, 26), (x(6) - 1, 205), ORANGE, 1.2)
    here.text(x(6) - 6, 156, "is phase 1\nover? yes", SMALL, ha="right")
