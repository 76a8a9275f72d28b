r"""A figure to play with: what a warp's request costs by its stride. A page asks for it by `<!-- warp.html -->`.

docs/theme/warp.js draws lanes, sectors and banks for what the reader chooses. Where scripts are off, and on paper, the table that is
computed here stands for it, by the same rules, which the test of the browser holds to each other.
"""

LANES, SECTOR, BANKS, BANK = 32, 32, 32, 4  # lanes of a warp; bytes of a sector; banks, and bytes of a word of one
STRIDES = (1, 2, 4, 8, 16, 32, 33)


def sectors(stride, size, first=0):
    """How many sectors a request moves: each aligned 32 bytes that a lane touches, once."""
    return len({(first + lane * stride) * size // SECTOR for lane in range(LANES)})


def rounds(stride, size, first=0):
    """How many rounds shared memory takes: in one no bank gives two words, and numbers of 8 bytes are served half a warp at a time."""
    total, lanes = 0, LANES * BANK // size
    for begin in range(0, LANES, lanes):
        words = {(first + lane * stride) * size // BANK + word for lane in range(begin, begin + lanes) for word in range(size // BANK)}
        of_bank = [sum(word % BANKS == bank for word in words) for bank in range(BANKS)]
        total += max(of_bank)
    return total


def warp_html():
    """The figure with its table."""
    rows = "".join(f"<tr><td>{stride}</td>" + "".join(
        f"<td>{count(stride, size)}</td>" for size in (4, 8) for count in (sectors, rounds)) + "</tr>" for stride in STRIDES)
    return ('<figure class="warp" id="warp"><div class="table"><table class="markdownTable">'
            "<tr><th>stride</th><th>4 bytes: sectors</th><th>rounds</th><th>8 bytes: sectors</th><th>rounds</th></tr>"
            f'{rows}</table></div><figcaption class="caption">A request of 32 lanes, of which lane l wants the number l · stride. Sectors: what '
            "global memory moves, each of 32 bytes; 4 are the least for numbers of 4 bytes, 8 for those of 8. Rounds: how often shared "
            "memory has to be asked; 1 and 2 are the least.</figcaption></figure>\n"
            '<script src="warp.js" defer></script>\n')


def write(directory):
    """Writes the figure."""
    (directory / "warp.html").write_text(warp_html())
