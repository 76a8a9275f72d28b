"""Draws the pictures of the README, light and dark: a ladder from the recorded runs, and a page of the book.

Usage: python3 docs pictures ladder      after a recording
       python3 docs pictures page BOOK   after the book has changed; BOOK is build/docs/html, and Chromium takes the picture
"""

import html
import os
import pathlib
import re
import subprocess
import tempfile

from book import stages
from draw import plots
from measure import figures

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
LADDER = ["h200", "local_volatility", "large", "f64"]
PAGE, SECTION, SIZE = "ata_05_unrolled.html", "the-work", (1280, 800)
# The colours of the background and of the text in each of the book's modes.
MODES = {"light": ["#ffffff", "#2f4153"], "dark": ["#0d1117", "#d2dbde"]}


def colours_of(mode):
    """The replacements for the colours of the book's pages in one of the two modes."""
    style = (ROOT / "docs" / "theme" / "staircase.css").read_text()
    found = re.findall(r"--plot-(\d): light-dark\((#\w+), (#\w+)\)", style)
    return {f"var(--plot-{number})": of_mode[mode == "dark"] for number, *of_mode in found}


def ladder(mode):
    """The ladder as a separate file with its own background."""
    plot = plots.ladder(LADDER, stages.find_stages(ROOT), figures.Results(ROOT / "docs" / "results"))
    drawing = plots.svg(plot, "ladder", "wide", is_small=False)
    background, ink = MODES[mode]
    for of_page, colour in ({"currentColor": ink} | colours_of(mode)).items():
        drawing = drawing.replace(of_page, colour)
    drawing = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", drawing)
    width, height = plots.WIDTHS["wide"], plots.HEIGHT
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
            f'width="{width}" height="{height}" font-family="system-ui, \'DejaVu Sans\', sans-serif" fill="{ink}"')
    # As in the book, text has an outline that separates it from the lines that it covers.
    style = f"<style>text {{ paint-order: stroke; stroke: {background}; stroke-width: 3px; }}</style>"
    return (drawing.replace("<svg", head, 1).replace("\n\n", "\n")
            .replace("</title>", f"</title><desc>{html.escape(plot.caption)}</desc>{style}"
                     f'<rect width="100%" height="100%" rx="6" fill="{background}"/>', 1) + "\n")


def picture_of_page(book, mode, target):
    """A screenshot of the page PAGE of the book, with the section SECTION at the top."""
    text = (book / PAGE).read_text().replace("<head>", f'<head><base href="{book.as_uri()}/">')
    script = f"""<script>addEventListener("load", () => setTimeout(() => {{
      document.documentElement.classList.add("{mode}-mode");
      // Chromium takes a picture of what lies at the top.
      const above = document.getElementById("{SECTION}").getBoundingClientRect().top;
      document.querySelector("main").style.marginTop = `${{70 - above}}px`;
    }}, 1000))</script></body>"""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        page = pathlib.Path(directory, PAGE)
        page.write_text(text.replace("</body>", script))
        command = ["chromium", "--headless=new", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000",
                   f"--user-data-dir={directory}/profile", f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={target}"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        subprocess.run([*command, page.as_uri()], check=True, capture_output=True)


def main(what, book=None):
    """Writes one of the two pictures, in both modes, or returns the usage."""
    if (what, book is None) not in (("ladder", True), ("page", False)):
        return __doc__
    PICTURES.mkdir(exist_ok=True)
    for mode in MODES:
        if what == "ladder":
            (PICTURES / f"ladder_{mode}.svg").write_text(ladder(mode))
        else:
            picture_of_page(pathlib.Path(book).resolve(), mode, PICTURES / f"page_{mode}.png")
    return 0
