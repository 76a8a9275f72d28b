"""Tests the links that the book inserts at the first use of each glossary term: glossary_test.py ROOT. Prints TAP."""

import pathlib
import re
import sys

import tap
from book import glossary, hosted

ROOT = pathlib.Path(sys.argv[1]).resolve()
TEXT = (ROOT / "docs/pages/glossary.md").read_text()
SAMPLE = """# Glossary

- <a id="term_warp"></a>**Warp**: 32 threads.
- <a id="term_sm"></a>**Streaming multiprocessor**<!-- also: SM --> (SM): A unit.
- <a id="term_condition"></a>**Condition**<!-- only: condition number -->: A ratio.
- <a id="term_double_buffering"></a>**Double buffering**<!-- also: double buffer -->: Two buffers.
- <a id="term_buffer"></a>**Buffer**: Memory.
- <a id="term_latency"></a>**Latency**: A time.
- <a id="term_batch"></a>**Batch**: Many.
- <a id="term_hidden"></a>**Hidden**<!-- only: - -->: Never found.
"""
# Contents of a page, and the terms that must be linked in it, in order, with their link texts.
LINKED = (
    ("<p>A warp is a warp.</p>", [("warp", "warp")]),
    ("<p>Two warps wait.</p><p>A warp waits.</p>", [("warp", "warps")]),
    ("<p>Warp latencies and latency</p>", [("warp", "Warp"), ("latency", "latencies")]),
    ("<p>batches</p>", [("batch", "batches")]),
    ("<p>An SM, sm and SMs; a streaming\nmultiprocessor</p>", [("sm", "SM")]),
    ("<p>psms and sms</p>", []),
    ("<p>streaming-multiprocessors</p>", [("sm", "streaming-multiprocessors")]),
    ("<p>The condition is true. Its condition number is 3.</p>", [("condition", "condition number")]),
    ("<p>double buffering of a buffer</p>", [("double_buffering", "double buffering"), ("buffer", "buffer")]),
    ("<p>warpgroup, sub-warp and warp-wide</p>", []),
    ("<p>hidden</p>", []),
    ("<h2>Warp</h2><p>no term</p>", []),
    ("<h2>Warp</h2><p>A <b>warp</b></p>", [("warp", "warp")]),
    ("<p><code>warp</code> and <a href='x'>a warp</a></p><pre>warp</pre>", []),
    ("<p>\\(warp\\) \\[ warp \\]</p><!-- warp -->", []),
    ("<table><thead><tr><th>warp</th></tr></thead><tbody><tr><td>a buffer</td></tr></tbody></table>", [("buffer", "buffer")]),
    ("<div class=\"fragment\"><div>warp</div></div><div class=\"figures\"><table><tr><td>warp</td></tr></table></div><p>warp</p>", [("warp", "warp")]),
    ("<figure><figcaption>warp</figcaption></figure><details><summary>warp</summary><p>a buffer</p></details>", [("buffer", "buffer")]),
    ("<p>see <a href=\"glossary.html#term_warp\">it</a>; a warp</p>", []),
    ("<ul><li>A warp<br>and <em>SM</em></li></ul>", [("warp", "warp"), ("sm", "SM")]))


def wrong_links():
    """Yields samples in which the wrong words become links, or in which the links change the text."""
    linker = glossary.Linker(glossary.entries(SAMPLE))
    for text, expected in LINKED:
        made = linker.in_html(text)
        found = re.findall(r'<a class="term" href="glossary\.html#term_(\w+)">(.*?)</a>', made)
        if found != expected:
            yield f"the links in {text!r} are {found}, not {expected}"
        if re.sub(r'<a class="term"[^>]*>(.*?)</a>', r"\1", made, flags=re.DOTALL) != text:
            yield f"the links change the text {text!r} to {made!r}"


def wrong_forms():
    """Yields entries of the sample that are read wrongly."""
    forms = {entry.anchor: entry.forms for entry in glossary.entries(SAMPLE)}
    for anchor, expected in (("warp", ["Warp"]), ("sm", ["Streaming multiprocessor", "SM"]), ("condition", ["condition number"]), ("hidden", [])):
        if forms[f"term_{anchor}"] != expected:
            yield f"the forms of {anchor} are read as {forms[f'term_{anchor}']}"


def unread_entries():
    """Yields entries of the glossary that the book does not read, and unknown comments in entries."""
    read = {entry.anchor for entry in glossary.entries(TEXT)}
    yield from (f"the book does not read the entry {anchor}"
                for anchor in re.findall(r'<a id="(term_\w+)">', TEXT) if anchor not in read)
    yield from (f"the book does not interpret the comment '{comment}'"
                for comment in re.findall(r"<!--.*?-->", TEXT) if not glossary.FORMS.fullmatch(comment))


def ambiguous_forms():
    """Yields forms that belong to two entries."""
    owners = {}
    for entry in glossary.entries(TEXT):
        for form in entry.forms:
            owners.setdefault(form.lower(), []).append(entry.anchor)
    yield from (f"the form '{form}' belongs to {' and '.join(anchors)}"
                for form, anchors in owners.items() if len(anchors) > 1)


def unsorted_entries():
    """Yields terms that are out of order, and sections with a wrong letter."""
    for letter, section in re.findall(r"^## (\w)$(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL):
        terms = [re.sub(r"[^a-z0-9 ]", "", match["term"].lower().replace("-", " ")) for match in glossary.ENTRY.finditer(section)]
        yield from (f"the term '{term}' is in section {letter}" for term in terms if term[0] != letter.lower())
        yield from (f"the term '{after}' follows '{term}'" for term, after in zip(terms, terms[1:]) if after < term)


def lost_comments():
    """Yields the translation of the sample if it loses the comments of entries, which the book reads later."""
    made = hosted.for_doxygen(SAMPLE, "docs/pages/glossary.md")
    if "<!-- also: SM -->" not in made:
        yield f"the translation for Doxygen loses the comment of an entry: {made}"


tap.report((("the forms of a term come from its entry and its comments", wrong_forms()),
            ("the book reads every entry of the glossary and every comment in it", unread_entries()),
            ("no form belongs to two entries", ambiguous_forms()),
            ("entries are in alphabetical order below their letter", unsorted_entries()),
            ("only the first use of each term becomes a link, and the text stays the same", wrong_links()),
            ("the translation for Doxygen keeps the comments of entries", lost_comments())))
