"""Tests the pages as a code host shows them: hosted_test.py ROOT. Prints TAP."""

import pathlib
import re
import sys
import urllib.parse

import tap
from book import hosted, quoted, stages

ROOT = pathlib.Path(sys.argv[1]).resolve()
PAGES = sorted({*quoted.pages(ROOT), *ROOT.glob("common/*/README.md")})
SPECIAL = re.compile(r"""(?P<formula>^[ ]*```math\n.*?^[ ]*```[ ]*$ | \$`[^`]+`\$)
    | (?P<code>^[ ]*(?P<fence>`{3,}).*?^[ ]*(?P=fence)[ ]*$ | (?P<tick>`+)(?!`).*?(?<!`)(?P=tick)(?!`))
    | (?P<plain>\$[^\s$`](?:[^$`]*[^\s$`])?\$)""", re.MULTILINE | re.DOTALL | re.VERBOSE)
# Characters of a formula that Markdown would interpret: escapes, emphasis, tags, and separators of cells.
TAKEN = re.compile(r"\\[^A-Za-z]|[*<>~|]|(?<![A-Za-z0-9])_")
COMMENT = re.compile(r"<!-- (.*?) -->", re.DOTALL)
KNOWN = re.compile(r"diff|figures|proved|stages|part|whole|model|[\w.-]+\.(?:html|txt)|\S+\s.+", re.DOTALL)


def without_code(text):
    """A page in which the word "code" replaces all code."""
    return SPECIAL.sub(lambda match: "code" if match["code"] else match[0], text)


def prose(text):
    """A page in which words replace code and formulas."""
    return SPECIAL.sub(lambda match: "code" if match["code"] else "formula", text)


def commands(text):
    """Yields commands of Doxygen that a reader would see."""
    yield from re.findall(r"[\\@][A-Za-z]+[{\[]?[^\s.,;)]*|\\f[$\[\]{}]+|\{#[\w-]+\}", COMMENT.sub("", prose(text)))


def anchors(path):
    """The anchors of a page: its explicit ones, and those that a host generates from headings."""
    text = without_code(path.read_text())
    slugs = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    return set(re.findall(r'<a id="([^"]+)"></a>', text)) | slugs


def lost_links(path, text):
    """Yields links of a page whose file or anchor does not exist."""
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        name, _, anchor = urllib.parse.unquote(target).partition("#")
        file = (path.parent / name) if name else path
        if "://" in target:
            continue
        if not file.exists() or not file.resolve().is_relative_to(ROOT):
            yield f"the link to {target} leads to no file of the repository"
        elif anchor and (file.suffix != ".md" or anchor not in anchors(file)):
            yield f"the link to {target} leads to no anchor of the file"


def changed_formulas(text):
    """Yields formulas that Markdown would change, and dollar signs without a partner."""
    for match in filter(lambda match: match["plain"], SPECIAL.finditer(text)):
        formula, behind = match[0][1:-1], text[match.end():match.end() + 1]
        if TAKEN.search(formula) or "\n" in formula:
            yield f"Markdown changes ${formula}$; write $`{formula}`$"
        if behind not in set(" \n.,:;?!)") | {""}:
            yield f"${formula}$ is followed by '{behind}'; write $`{formula}`$"
    yield from (f"a dollar sign has no partner: {line}" for line in prose(text).splitlines() if "$" in line)


def unknown_comments(text):
    """Yields comments that neither the book nor the checker of figures uses."""
    yield from (f"the comment '{comment}' is unknown"
                for comment in COMMENT.findall(without_code(text)) if not KNOWN.fullmatch(comment))


def wrong_diffs():
    """Yields pages of stages whose link to the diff does not lead from the previous source to their own."""
    for stage in (stage for of_workload in stages.find_stages(ROOT).values() for stage in of_workload if stage.before):
        before, own = stage.before.source, stage.source.name
        wanted = f"From [{before.parent.name}/{before.name}](../{before.parent.name}/{before.name}) to [{own}]({own}).<!-- diff -->"
        text = (stage.source.parent / "README.md").read_text()
        if text.count(wanted) != 1 or text.count("<!-- diff -->") != 1:
            yield f"{stage.page} does not contain '{wanted}' exactly once"
        if f"[{own}]({own})." not in text.partition("## The work")[2]:
            yield f"{stage.page} does not link to the whole program"


def over_pages(check):
    """Yields the findings of `check(text)` on all pages."""
    for path in PAGES:
        text = path.read_text()
        found = check(path, text) if check is lost_links else check(text)
        yield from (f"{path.relative_to(ROOT)}: {problem}" for problem in found)


TRANSLATED = (
    ("docs/pages/x.md", "# Title\na $b c$, $`d\\,e`$.", "# Title {#x}\na \\f$b c\\f$, \\f$d\\,e\\f$."),
    ("stages/w/00_a/notes.md", "# Notes\n", "# Notes {#w_00_a_notes}\n"),
    ("docs/pages/x.md", "a:\n\n  ```math\n  a \\\\\n  b\n  ```\nc", "a:\n\n  \\f[ a \\\\\n  b \\f]\nc"),
    ("docs/pages/x.md", "```\n[a](b.md) $x$\n```\n`$y$ <!-- diff -->`", "```\n[a](b.md) $x$\n```\n`$y$ <!-- diff -->`"),
    ("docs/pages/x.md", '<a id="y"></a>\n## A heading', "## A heading {#y}"),
    ("docs/pages/x.md", '- <a id="y"></a>**Y**', "- \\anchor y **Y**"),
    ("stages/w/01_b/README.md", "[*Y*](../../../docs/pages/x.md#y)", '\\ref y "*Y*"'),
    ("stages/w/01_b/README.md", "[a\nb](../00_a/README.md), [W](../README.md)", '\\ref w_00_a "a b", \\ref w "W"'),
    ("stages/w/01_b/README.md", "[b.cu](b.cu). [the header](../w.hpp)", '\\subpage w_01_b_source "b.cu". the header'),
    ("stages/w/01_b/README.md", "[a b, in b.cu](b.cu)<!-- part -->", "\\snippet{lineno} stages/w/01_b/b.cu a b"),
    ("stages/w/01_b/README.md", "From [a.cu](../00_a/a.cu) to [b.cu](b.cu).<!-- diff -->", "\\htmlinclude w_01_b_diff.html"),
    ("stages/w/01_b/README.md", "**M.** <!-- figures -->\n*A plot.*<!-- ladder.m.html -->",
     "**M.** \\htmlinclude w_01_b_figures.html\n\\htmlinclude ladder.m.html"),
    ("stages/w/README.md", "- [00](00_a/README.md)\n- [V](../v/README.md)\n- see [00](00_a/README.md)",
     '- \\subpage w_00_a "00"\n- \\ref v "V"\n- see \\ref w_00_a "00"'),
    ("docs/pages/mainpage.md", "- [R](../results) — x", '- \\subpage results "R" — x'),
    ("docs/pages/x.md", "[t](../results/m-1/t.txt)<!-- whole --> [M](../results/m-1)", '\\verbinclude docs/results/m-1/t.txt \\ref results_m_1 "M"'),
    ("docs/pages/x.md", "  [f](../../a.py)<!-- from: def f to: ); to: } -->", "  \\dontinclude a.py\n  \\skip def f\n  \\until );\n  \\until }"),
    ("docs/pages/x.md", "[i](../../stages/ata/04_tiled/README.md)<!-- quote: Try it; <details> -->", "<details>\n<summary>Answers</summary>"),
    ("docs/pages/x.md", "[w](https://a.b/c) 1 s<!-- m w d f64 00_a seconds -->", "[w](https://a.b/c) 1 s<!-- m w d f64 00_a seconds -->"))


def wrong_translations():
    """Yields texts whose translation for Doxygen is wrong."""
    for path, text, expected in TRANSLATED:
        found = hosted.for_doxygen(text, path)
        if found != expected:
            yield f"{text!r} becomes {found!r}"
        elif re.search(r"\\[a-z]", expected) and hosted.for_doxygen(found, "generated.md") != found:
            yield f"a second translation changes {found!r}"


def accepted_faults():
    """Yields seeded errors that are not found, and correct texts that are refused."""
    here = ROOT / "docs" / "pages" / "measuring.md"
    for check, right, wrong in (
            (commands, ("`\\ref x`", "$\\alpha$", "$`\\,`$", "```math\n\\frac12\n```"),
             ("see \\ref x", "\\f$x\\f$", "\\f[ x \\f]", "# T {#t}", "\\htmlinclude x.html", "- \\subpage y", "@ref z", "a`b` \\anchor c d")),
            (changed_formulas, ("$a_{ij}$, `$OUT`", "$`a\\,b`$s", "```math\na\\,b\n```"),
             ("$a\\,b$", "$\\hat{x}_i$", "$x$s", "costs 3 $ or", "$a\nb$", "$a < b$")),
            (unknown_comments, ("<!-- diff -->", "1 s<!-- a b c -->", "`<!-- x -->`"), ("<!-- dif -->",)),
            (lambda text: lost_links(here, text), ("[a](harness.md)", "[a](#measuring_record)", "[a](../results)", "`[a](b)`", "[a](https://x.y)"),
             ("[a](harnes.md)", "[a](#measuring_recor)", "[a](../../../x)", "[a](harness.md#x)", "[a](../../LICENSE#x)"))):
        yield from (f"{text!r} is refused: {list(check(text))}" for text in right if list(check(text)))
        yield from (f"{text!r} is accepted" for text in wrong if not list(check(text)))


tap.report((("the repository has more than 100 pages", [] if len(PAGES) > 100 else [f"it has {len(PAGES)} pages"]),
            ("no page shows a command of Doxygen", over_pages(commands)),
            ("every link leads to an existing file, and to an anchor of this file", over_pages(lost_links)),
            ("Markdown does not change any formula", over_pages(changed_formulas)),
            ("the book or the checker of figures uses every comment", over_pages(unknown_comments)),
            ("each page of a stage links to the previous source and to its own", wrong_diffs()),
            ("pages are translated to the commands of Doxygen", wrong_translations()),
            ("seeded faults are found, and correct text is accepted", accepted_faults())))
