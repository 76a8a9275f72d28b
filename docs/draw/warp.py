r"""An interactive figure: the cost of a warp's request for each stride. A page includes it by `<!-- warp.html -->`.

docs/theme/warp.js draws lanes, sectors and banks for the stride that the reader chooses. Without scripts, and on paper,
the page shows the table that this file computes. The figure and the table follow the same rules, and the test of the
browser compares them.
"""

LANES, SECTOR, BANKS, BANK = 32, 32, 32, 4  # lanes of a warp, bytes of a sector, banks, and bytes of a bank's word
STRIDES = (1, 2, 4, 8, 16, 32, 33)


def sectors(stride, size, first=0):
    """The number of sectors that a request transfers: each aligned block of 32 bytes that a lane accesses counts once."""
    return len({(first + lane * stride) * size // SECTOR for lane in range(LANES)})


def wavefronts(stride, size, first=0):
    """The number of wavefronts of a request. In each wavefront, a bank delivers at most one word. If elements have
    8 bytes, each half of the warp has its own wavefronts."""
    total, lanes = 0, LANES * BANK // size
    for begin in range(0, LANES, lanes):
        words = {(first + lane * stride) * size // BANK + word for lane in range(begin, begin + lanes) for word in range(size // BANK)}
        of_bank = [sum(word % BANKS == bank for word in words) for bank in range(BANKS)]
        total += max(of_bank)
    return total


def warp_html():
    """The figure of a warp's accesses, with its table."""
    rows = "".join(f"<tr><td>{stride}</td>" + "".join(
        f"<td>{count(stride, size)}</td>" for size in (4, 8) for count in (sectors, wavefronts)) + "</tr>" for stride in STRIDES)
    return ('<figure class="warp" id="warp"><div class="table"><table class="markdownTable">'
            "<tr><th>stride</th><th>4 bytes: sectors</th><th>wavefronts</th><th>8 bytes: sectors</th><th>wavefronts</th></tr>"
            f'{rows}</table></div><figcaption class="caption">A request of 32 lanes; lane l accesses element l · stride. Sectors: the units of 32 bytes that '
            "global memory transfers; the minimum is 4 for elements of 4 bytes and 8 for elements of 8 bytes. Wavefronts: the cycles in which "
            "shared memory serves the request; the minimum is 1 and 2.</figcaption></figure>\n"
            '<script src="warp.js" defer></script>\n')


def write(directory):
    """Writes the figure."""
    (directory / "warp.html").write_text(warp_html())
