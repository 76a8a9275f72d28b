"""The index of the book's search: every section of every page, each term of the glossary, and code.

Python's lunr makes the index, and lunr.js searches it; Debian provides both, with the same version of the format. Doxygen's own search finds
only names of pages and sections, whereas this index contains all words. The search needs no server: the index is a script,
because a page that was opened as a file can load no other kind of data.
"""

import html
import json
import pathlib
import re
import shutil

import lunr

LUNR = pathlib.Path("/usr/share/javascript/lunr/lunr.min.js")
SECTION = re.compile(r'<h[23] id="([^"]+)"[^>]*>(.*?)</h[23]>|<li><a class="anchor" id="(term_\w+)"></a>\s*<b>(.*?)</b>', re.DOTALL)
UNSEEN = re.compile(r"<svg.*?</svg>|<script.*?</script>|<fieldset.*?</fieldset>|<del[ >].*?</del>"
                    r'|<nav.*?</nav>|<a class="self".*?</a>', re.DOTALL)
CAPTION = re.compile(r"<figcaption.*?</figcaption>", re.DOTALL)
FORMULA = re.compile(r"\\\(.*?\\\)|\\\[.*?\\\]", re.DOTALL)
FIELDS = [{"field_name": "title", "boost": 6}, {"field_name": "section", "boost": 8}, {"field_name": "text"}]
# A page of a program is found by the names in the program, but ranks below the pages that describe it.
BOOST = {"source": 0.3, "glossary": 1.5}
SHOWN = {"source": 200, "page": 1500}  # letters of a section that are kept to show where words were found


def plain(text):
    """The visible text of some HTML, in one line."""
    text = FORMULA.sub(" ", UNSEEN.sub(" ", text))
    text = re.sub(r"</?(?:b|code|span|em|strong|a|i|sub|sup|small|ins)\b[^>]*>", "", text)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text))).strip()


def indexed(text, least=1, numbers=False):
    """The words of a text for the index, including the parts of identifiers, without signs, and without digits unless requested."""
    return " ".join(word for word in re.findall(r"[^\W_]+", text)
                    if len(word) >= least and (numbers or not word[0].isdigit()))


def sections_of(article):
    """Yields anchor, heading and HTML of each section of a page; the first section has neither anchor nor heading."""
    anchor, heading, begin = "", "", 0
    for match in SECTION.finditer(article):
        yield anchor, heading, article[begin:match.start()]
        anchor, heading, begin = match[1] or match[3], plain(match[2] or match[4]), match.start() if match[3] else match.end()
    yield anchor, heading, article[begin:]


def sections(pages):
    """Yields link, title of the page, heading and text of every section that is not empty."""
    for page in pages:
        for anchor, heading, text in sections_of(page.text):
            # Captions of results name machines, hosts and dates, which readers do not search for.
            text = plain(CAPTION.sub(" ", text) if page.name.startswith("results_") else text)
            if text or heading:
                yield page, f"{page.name}.html" + (f"#{anchor}" if anchor else ""), heading, text


def write(pages, directory):
    """Writes the index and a copy of lunr."""
    found = list(sections(pages))
    documents = []
    for n, (page, _, heading, text) in enumerate(found):
        # Each name in a program is indexed once, without numbers and short names.
        words = " ".join(sorted(set(indexed(text, 3).split()))) if page.kind == "source" else indexed(text)
        boost = BOOST.get(page.kind, BOOST.get(page.name, 1))
        documents.append(({"id": str(n), "title": indexed(page.title, numbers=True),
                           "section": indexed(heading, numbers=True), "text": words}, {"boost": boost}))
    index = lunr.lunr("id", FIELDS, documents).serialize()
    for _, vector in index["fieldVectors"]:
        vector[1::2] = [round(weight, 2) for weight in vector[1::2]]  # two decimals suffice to order the results
    shown = [[link, page.title, heading, text[:SHOWN.get(page.kind, SHOWN["page"])]] for page, link, heading, text in found]
    data = {"sections": shown, "index": index}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("\\", r"\\").replace("'", r"\'")
    (directory / "search.js").write_text(f"window.staircaseSearch = '{text}';\n")
    shutil.copy(LUNR, directory / LUNR.name)
