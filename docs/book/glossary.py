r"""Links to the glossary, which the book inserts at the first use of each term on a page.

An entry of docs/pages/glossary.md begins with an anchor and its term in bold. The book finds the term and its plural. A
comment after the term can list further forms, or the only forms that the book finds:

    - <a id="term_warp"></a>**Warp**: ...                                       finds warp, warps
    - <a id="term_sm"></a>**Streaming multiprocessor**<!-- also: SM -->: ...    also finds SM, SMs
    - <a id="term_condition"></a>**Condition**<!-- only: condition number -->   finds only condition number, condition
                                                                                numbers; the term has other meanings

If several terms begin at the same word, the book links the longest one. The book inserts no links into headings, code,
formulas, links, figures and the headings of tables. A form with at least two capitals is found only in this spelling.
All other forms are found in any mixture of capitals and small letters.
"""

import dataclasses
import re

PAGE = "glossary"
ENTRY = re.compile(r'^- <a id="(?P<anchor>term_\w+)"></a>\*\*(?P<term>[^*]+)\*\*(?P<rest>.*)$', re.MULTILINE)
FORMS = re.compile(r"<!-- (also|only): (.*?) -->")
# Pages of these kinds have no running text.
UNLINKED = {"source"}
# The contents of these elements are not running text.
CLOSED = {"a", "button", "code", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "label", "nav", "pre", "script", "style", "summary", "svg", "th"}
CLASSES = re.compile(r'class="(?:fragment|figures|bar|card|ways|caption|proved|step)\b')
TOKEN = re.compile(r"(<!--.*?-->|<[^>]+>|\\\([^<]*?\\\)|\\\[[^<]*?\\\])", re.DOTALL)
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}
LINKED = re.compile(rf'<a [^>]*href="{PAGE}\.html#(term_\w+)"')


@dataclasses.dataclass
class Entry:
    """A term of the glossary: its anchor and the forms in which the book finds it."""

    anchor: str
    term: str
    forms: list


def entries(text):
    """The entries of the glossary, from its Markdown."""
    found = []
    for match in ENTRY.finditer(text):
        kinds = dict(FORMS.findall(match["rest"]))
        listed = [form.strip() for form in (kinds.get("only") or kinds.get("also") or "").split(",") if form.strip(" -")]
        found.append(Entry(match["anchor"], match["term"], listed if "only" in kinds else [match["term"], *listed]))
    return found


def plural(form):
    """A form as a pattern that also matches its plural."""
    if form.endswith("y") and form[-2:-1] not in "aeiou":
        return re.escape(form[:-1]) + "(?:y|ies)"
    if re.search(r"(?:s|x|ch|sh)$", form):
        return re.escape(form) + "(?:es)?"
    return re.escape(form) + "s?"


def pattern_of(form):
    """A form as a pattern. Words may be separated by a space, a line break or a hyphen. Only forms with at least two
    capitals are case-sensitive."""
    *first, last = re.split(r"[ -]", form)
    text = r"(?:\s+|-)".join([*map(re.escape, first), plural(last)])
    return text if sum(letter.isupper() for letter in form) > 1 else f"(?i:{text})"


class Linker:
    """Inserts the links of one glossary into pages."""

    def __init__(self, found):
        self.forms = sorted(((form, entry) for entry in found for form in entry.forms), key=lambda pair: -len(pair[0]))
        self.pattern = re.compile(r"(?<![\w-])(?:" + "|".join(f"({pattern_of(form)})" for form, _ in self.forms) + r")(?![\w-])")

    def in_text(self, text, used):
        """Running text with a link at the first use of each term whose anchor is not in `used`. Adds the linked anchors
        to `used`."""
        def replace(match):
            entry = self.forms[match.lastindex - 1][1]
            if entry.anchor in used:
                return match[0]
            used.add(entry.anchor)
            return f'<a class="term" href="{PAGE}.html#{entry.anchor}">{match[0]}</a>'
        return self.pattern.sub(replace, text)

    def in_html(self, text):
        """The contents of a page with links at the first use of each term."""
        parts, used, open_tags = [], set(), []
        for part in TOKEN.split(text):
            if part.startswith("<!--") or part.startswith("\\"):
                parts.append(part)
                continue
            if part.startswith("<"):
                if link := LINKED.match(part):
                    used.add(link[1])
                parts.append(part)
                tag = re.match(r"</?([a-zA-Z0-9]+)", part)
                name = tag[1].lower() if tag else ""
                if part.startswith("</"):
                    while open_tags and open_tags.pop()[0] != name:
                        pass
                elif name and name not in VOID and not part.endswith("/>"):
                    open_tags.append((name, name in CLOSED or bool(CLASSES.search(part))))
                continue
            parts.append(part if any(closed for _, closed in open_tags) else self.in_text(part, used))
        return "".join(parts)


def link(pages, text):
    """Inserts the links into all pages that have running text; `text` is the glossary's Markdown."""
    linker = Linker(entries(text))
    for page in pages.values():
        if page.kind not in UNLINKED and page.name != PAGE:
            page.text = linker.in_html(page.text)
