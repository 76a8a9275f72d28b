"""The frame of a page: everything around the contents that Doxygen made.

The book takes title, contents and path from Doxygen's page and inserts them into docs/theme/page.html. The book also
provides one heading of the first level, readable anchors, aligned columns of numbers, the sidebar, the list of sections, and
the links to the previous and the next page.
"""

import dataclasses
import html
import re
import string

from book import headers

TITLE = re.compile(r'<div class="title">(.*?)</div>', re.DOTALL)
CONTENTS = re.compile(r'<div class="contents">\s*(?:<div class="textblock">)?(.*?)</div>(?:</div>)?<!-- (?:contents|PageDoc) -->', re.DOTALL)
PATH = re.compile(r'<li class="navelem"><a class="el" href="(\w+)\.html">(.*?)</a>')
HEADING = re.compile(r'<h([1-5])>\s*(?:<a class="anchor" id="([^"]+)"></a>)?\s*(.*?)</h\1>', re.DOTALL)
CELL = re.compile(r"<(t[hd])([^>]*)>(.*?)</\1>", re.DOTALL)
# A number, possibly with a unit, a sign, a bound or a second number.
NUMBER = re.compile(r"[≈~<>≤≥+−-]?\s?\d[\d.,   ]*(?:e[+-]?\d+)?\s*(?:[×x%‰]|[kMGTmµn]?(?:s|B|FLOP/s|B/s|W|J|Hz)|[kMGT]i?B?|[GMT]?FLOP|of \d+|/ \d+)?"
                    r"(?:\s?[–/×,]\s?[+−-]?\d[\d.]*\s*(?:%|×|m?s|[KMG]B)?)*")


@dataclasses.dataclass
class Page:
    """A page of the book."""

    name: str  # name of the file, without .html
    heading: str  # HTML
    title: str  # of the window and in the search
    text: str
    kind: str  # home, chapter, stage, slides, source or page
    path: list  # the pages above it: name and title
    headings: list = dataclasses.field(default_factory=list)  # level, anchor and HTML of each heading
    card: str = ""
    minutes: int = 0


def slug(text):
    """A heading as an anchor."""
    words = re.sub(r"<[^>]+>", "", html.unescape(text)).lower()
    return re.sub(r"[^\w]+", "-", words).strip("-") or "section"


def with_anchors(text):
    """The contents with headings one level lower and readable anchors, and the list of these headings."""
    headings, taken = [], set()

    def replace(match):
        level, anchor, words = int(match[1]) + 1, match[2] or "", match[3].strip()
        if not anchor or anchor.startswith("autotoc_md"):
            anchor = slug(words)
            while anchor in taken:
                anchor += "-"
        taken.add(anchor)
        headings.append((level, anchor, words))
        return (f'<h{level} id="{anchor}">{words}<a class="self" href="#{anchor}" '
                f'aria-label="Link to {html.escape(re.sub("<[^>]+>", "", words))}">#</a></h{level}>')
    return HEADING.sub(replace, text), headings


def is_number(cell):
    """Whether a cell contains only a number, regardless of markup."""
    text = html.unescape(re.sub(r"<[^>]+>", "", cell)).strip()
    return bool(NUMBER.fullmatch(text))


def with_numbers(table):
    """A table with columns of numbers aligned right, without Doxygen's classes."""
    head, body = [], []
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.DOTALL)
    for row in rows:
        cells = [(match[1], match[2], match[3].strip()) for match in CELL.finditer(row)]
        (head if cells and all(tag == "th" for tag, _, _ in cells) else body).append(cells)
    width = max((len(cells) for cells in body), default=0)
    columns = [[cells[n][2] for cells in body if n < len(cells) and cells[n][2]] for n in range(width)]
    right = [bool(column) and sum(map(is_number, column)) * 2 > len(column) for column in columns]

    def row_html(cells, is_head):
        text = ""
        for n, (tag, attributes, cell) in enumerate(cells):
            span = re.search(r'(?:col|row)span="\d+"', attributes)
            centred = "Center" in attributes
            number = n < len(right) and right[n]
            kind = ' class="n"' if number else ' class="c"' if centred else ""
            scope = ' scope="col"' if is_head else ""
            text += f"<{tag}{scope}{kind}{' ' + span[0] if span else ''}>{cell}</{tag}>"
        return f"<tr>{text}</tr>"

    # A table whose head contains no words gets no head.
    head = [cells for cells in head if any(cell for _, _, cell in cells)]
    return ("<table>" + (f"<thead>{''.join(row_html(cells, True) for cells in head)}</thead>" if head else "")
            + f"<tbody>{''.join(row_html(cells, False) for cells in body)}</tbody></table>")


def listing(match):
    """A listing whose line numbers are set by CSS, beginning with the first number."""
    text = match[0].removesuffix("<!-- fragment -->")
    text = re.sub(r'<span class="\w+"></span>', "", text)
    first = re.search(r'<a id="l(\d+)"', text)
    text = re.sub(r'<div class="line">(?:<a id="l0*(\d+)" name="l\d+"></a><span class="lineno"> *\d+</span>)?',
                  lambda line: f'<div id="l{line[1]}">' if line[1] else "<div>", text)
    text = headers.with_links(text)
    return text.replace('<div class="fragment">', f'<div class="fragment numbered" style="counter-reset: n {int(first[1]) - 1}">'
                        if first else '<div class="fragment">', 1)


def cleaned(text, kind):
    """Doxygen's contents without superfluous markup."""
    text = re.sub(r'<a class="anchor" id="md_\w+"></a>\s*', "", text)
    text = re.sub(r"<p >", "<p>", text)
    text = re.sub(r"<p>\s*</p>", "", text)
    text = re.sub(r' class="(?:el|start\w+|end\w+|inter\w+)"', "", text)
    text = re.sub(r'<div class="fragment">.*?</div><!-- fragment -->', listing, text, flags=re.DOTALL)
    text = re.sub(r"<table class=\"markdownTable\">.*?</table>", lambda match: with_numbers(match[0]), text, flags=re.DOTALL)
    if kind != "source":
        text = re.sub(r'<div id="l\d+">', "<div>", text)  # only the pages of entire sources need anchors for lines
    alone = r'(?<!<div class="figures">)(?<!<div class="figures map">)(?<!<div class="figures wide">)(<table>.*?</table>)'
    return re.sub(alone, r'<div class="table">\1</div>', text, flags=re.DOTALL)


WORDS, LINES, FIGURES = 130, 15, 2  # words, lines of code and figures that are read in a minute; a learner needed 227
                                    # minutes for 15 pages, and these rates give 229


def minutes_of(text):
    """The minutes that a reader needs to read and understand some HTML, computed from its words, its lines of code and
    its figures."""
    text = re.sub(r"<svg.*?</svg>|<script.*?</script>", " ", text, flags=re.DOTALL)
    code = re.findall(r'<div class="fragment.*?\n</div>|<pre.*?</pre>', text, re.DOTALL)
    lines = sum(part.count("\n") for part in code)
    words = re.sub(r'<div class="fragment.*?\n</div>|<pre.*?</pre>|<[^>]+>', " ", text, flags=re.DOTALL)
    return max(1, round(len(words.split()) / WORDS + lines / LINES + text.count("<figure") / FIGURES))


def section_of(page, anchor):
    """The heading and the contents of a section of a page, as HTML, or nothing if the page has no such section."""
    heading = re.search(rf'<h(\d) id="{re.escape(anchor)}">(.*?)<a class="self".*?</h\1>', page.text, re.DOTALL)
    if not heading:
        return None
    after = re.search(rf"<h[1-{heading[1]}] ", page.text[heading.end():])
    return heading[2], page.text[heading.end():][:after.start() if after else None]


def read(path, kind):
    """A page as Doxygen made it."""
    text = path.read_text()
    title, contents = TITLE.search(text), CONTENTS.search(text)
    if not contents:
        raise SystemExit(f"{path.name} has no contents")
    heading = title[1].strip() if title else path.stem
    body, headings = with_anchors(cleaned(contents[1], kind))
    above = [(name, words) for name, words in PATH.findall(text) if name != path.stem]
    return Page(path.stem, heading, html.unescape(re.sub("<[^>]+>", "", heading)), body, kind, above, headings,
                minutes=minutes_of(body))


# --- The parts of a page around its text

def sidebar_html(groups, workloads, current):
    """The sidebar: groups of pages, and the stages of each workload, folded except around the current page."""
    def link(name, words):
        here = ' aria-current="page"' if name == current.name else ""
        return f'<a href="{name}.html"{here}>{words}</a>'

    text = ""
    is_brief = current.kind == "source" or current.name.startswith("results_") or current.name.endswith("_notes")
    open_ones = {current.name, current.name.removesuffix("_source")} | {name for name, _ in current.path}
    for title, entries in groups:
        text += f"<h2>{html.escape(title)}</h2><ul>"
        for name, words, below in entries:
            # Pages of programs, notes and results link only to the stages of their own workload. 150 more links would
            # be longer than most programs.
            if not below or is_brief and not open_ones & {name, *(label for label, _ in below)}:
                text += f"<li>{link(name, words)}</li>"
                continue
            inside = name in open_ones or any(label in open_ones for label, _ in below)
            items = "".join(f"<li>{link(label, heading)}</li>" for label, heading in below)
            text += (f'<li><details{" open" if inside else ""}><summary>{words}</summary>'
                     f'<ul><li>{link(name, "The chapter")}</li>{items}</ul></details></li>')
        text += "</ul>\n"
    return text


def contents_html(page):
    """The list of sections of a page; empty if the page has no sections."""
    shown = [heading for heading in page.headings if heading[0] == 2 or page.kind != "stage" and heading[0] == 3]
    if len(shown) > 40:
        shown = [heading for heading in shown if heading[0] == 2]
    if len(shown) < 2:
        return ""
    items = "".join(f'<li class="h{level}"><a href="#{anchor}">{re.sub("</?a[^>]*>", "", words)}</a></li>'
                    for level, anchor, words in shown)
    return ('<nav class="contents" aria-label="On this page"><details open><summary>On this page</summary>'
            f"<ul>{items}</ul></details></nav>\n")


def reading_html(before, after):
    """The links to the previous and the next page."""
    links = ""
    if before:
        links += f'<a rel="prev" href="{before[0]}.html"><small>Previous</small>{before[1]}</a>'
    if after:
        links += f'<a rel="next" href="{after[0]}.html"><small>Next</small>{after[1]}</a>'
    return f'<nav class="reading" aria-label="Reading order">{links}</nav>\n' if links else ""


def path_html(page):
    """The links to the pages above a page."""
    if page.kind == "home" or not page.path:
        return ""
    links = "".join(f'<li><a href="{name}.html">{words}</a></li>' for name, words in page.path)
    return f'<nav class="path" aria-label="Above this page"><ol>{links}</ol></nav>\n'


SLIDE = "\n<style>@page { size: 297mm 167mm; margin: 9mm 14mm; }</style>"  # the paper size of a slide, 16 by 9


def slides_html(text):
    """The text of a page of slides. Each section is a slide and is printed on a separate page."""
    before, *slides = re.split(r'(?=<h2 id=")', text)
    return (f'<div class="aside">{before}</div>\n'
            + "".join(f'<section class="slide">{slide.strip()}</section>\n' for slide in slides))


MATHJAX = """
<script>
window.MathJax = {extensions: ["tex2jax.js", "TeX/AMSmath.js", "TeX/AMSsymbols.js", "AssistiveMML.js"], jax: ["input/TeX", "output/SVG"],
  showMathMenu: false, messageStyle: "none", SVG: {scale: 92}};
</script>
<script src="mathjax/MathJax.js" async></script>"""


def page_html(template, page, groups, workloads, neighbours, version):
    """A complete page."""
    before, after = neighbours
    links = "".join(f'<link rel="{kind}" href="{of[0]}.html">\n' for kind, of in (("prev", before), ("next", after)) if of)
    first = re.search(r"<p>(.*?)</p>", re.sub(r"<(figure|nav|div|details).*?</\1>", "", page.text, flags=re.DOTALL), re.DOTALL)
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>|\\[(\[].*?\\[)\]]", "", first[1] if first else page.heading)).strip()
    return string.Template(template).substitute(
        title=html.escape("Staircase" if page.kind == "home" else f"{page.title} — Staircase"),
        description=html.escape(html.unescape(words[:200]), quote=True), links=links, kind=page.kind,
        mathjax=(MATHJAX if re.search(r"\\[(\[]", page.text) else "") + (SLIDE if page.kind == "slides" else ""),
        sidebar=sidebar_html(groups, workloads, page), path=path_html(page), heading=page.heading, card=page.card,
        contents=contents_html(page), text=page.text, reading=reading_html(before, after), version=version)
