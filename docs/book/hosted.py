r"""Translates pages from plain Markdown, which a code host shows, to the input of Doxygen.

These constructs are translated:

    $a b$, or $`a\,b`$ if it contains Markdown's signs                    a formula within a line
    ```math                                                               a formula on separate lines
    [05 Unrolled](../05_unrolled/README.md)                               a link to a page
    [warp](../../docs/pages/glossary.md#term_warp)                        a link to an anchor
    <a id="term_warp"></a>                                                an anchor; before a heading, the heading's anchor
    [unrolled.cu](unrolled.cu)                                            a link to the page of the stage's own source
    From [tiled.cu](../04_tiled/tiled.cu) to [unrolled.cu](unrolled.cu).<!-- diff -->
                                                                          the diff from one source to the other
    [load, in unrolled.cu](unrolled.cu)<!-- part -->                      the lines between two comments `// [load]`
    [ata.txt](../../docs/results/h200/ata.txt)<!-- whole -->              a complete file
    [the function](unrolled.cu)<!-- from: solve( to: } -->                the lines of a file from the first one with
                                                                          `solve(` to the next one with `}`
    [the idea](../04_tiled/README.md)<!-- quote: The idea; For each -->   a paragraph, list or table of another page, by its
                                                                          section and its first words
    <!-- figures -->, <!-- proved -->, <!-- stages -->                    a table or report that the book generates for this
                                                                          stage or workload
    *A plot is here in the book.*<!-- diagram.NAME.html -->               a generated drawing or table; a code host shows the
                                                                          sentence before the comment

A page has the name of its directory, or of its file in docs/pages. The first page and the page of a workload contain
lists of links, which define the pages below them. A link to a file that is not part of the book becomes plain text.
"""

import os.path
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

WORDS = r"(?:[^][`]|`[^`\n]*`)"  # of a link
TOKEN = re.compile(rf"""
      ^(?P<indent>[ ]*)```math\n(?P<display>.*?)\n[ ]*```[ ]*$
    | ^[ ]*(?P<fence>`{{3,}})(?!math).*?^[ ]*(?P=fence)[ ]*$
    | (?<!\\f)\$`(?P<guarded>[^`]+)`\$
    | (?P<code>`+)(?!`).*?(?<!`)(?P=code)(?!`)
    | (?<!\\f)\$(?P<inline>[^\s$](?:[^$`]*[^\s$])?)\$
    | (?:\*[^*\n]+\*|From[ ]\[{WORDS}+\]\([^)\s]+\)[ ]to[ ]\[{WORDS}+\]\([^)\s]+\)\.)?
      <!--[ ](?:(?P<own>diff|figures|proved|stages)|(?P<file>[\w.-]+\.(?:html|txt)))[ ]-->
    | (?P<bullet>^-[ ])?(?<!!)\[(?P<words>{WORDS}+)\]\((?P<target>[^)\s]+)\)(?P<mark><!--[ ](?:part|whole|from:.*?|to:.*?|quote:.*?)[ ]-->)?
    | ^<a[ ]id="(?P<name>[\w-]+)"></a>\n+(?P<heading>\#+[ ][^\n]+)$
    | <a[ ]id="(?P<anchor>[\w-]+)"></a>
    """, re.MULTILINE | re.DOTALL | re.VERBOSE)
LINES = re.compile(r"(from|to): (.+?) (?=from:|to:|-->)")


def label_of(path):
    """The label of the book's page for a file or directory, given relative to the root, or None."""
    match pathlib.PurePosixPath(path).parts:
        case ("stages", workload, "README.md"):
            return workload
        case ("stages", workload, stage, "README.md"):
            return f"{workload}_{stage}"
        case ("stages", workload, stage, "notes.md"):
            return f"{workload}_{stage}_notes"
        case ("docs", "pages", name) if name.endswith(".md"):
            return name.removesuffix(".md")
        case ("common", name, "README.md"):
            return name
        case ("docs", "results"):
            return "results"
        case ("docs", "results", machine) if "." not in machine:
            return f"results_{re.sub(r'[^A-Za-z0-9]', '_', machine)}"
    return None


def from_root(path, target):
    """The target of a link, relative to the root."""
    return os.path.normpath(os.path.join(os.path.dirname(path), target))


def is_below(path, other):
    """Whether a link in a list of a page leads to a page below that page. On the first page, every such link does; on a
    workload's page, only the links to its own stages do."""
    return path == "docs/pages/mainpage.md" or (
        path.count("/") == 2 and path.endswith("/README.md") and os.path.dirname(os.path.dirname(other)) == os.path.dirname(path))


def quoted(path, file, mark):
    """A paragraph, list or table of another page in Doxygen's syntax. The mark contains its section and first words."""
    heading, _, words = (part.strip() for part in mark.removeprefix("<!-- quote:").removesuffix("-->").partition(";"))
    section = re.search(rf"^## {re.escape(heading)}$\n(.*?)(?=^## |\Z)", (ROOT / file).read_text(), re.MULTILINE | re.DOTALL)
    blocks = re.split(r"\n\s*\n", section[1]) if section else []
    found = next((block.strip("\n") for block in blocks if block.strip("\n").startswith(words)), None)
    if not found:
        raise SystemExit(f"{path}: the section '{heading}' of {file} has no paragraph that begins with '{words}'")
    return for_doxygen(found, file)


def shown(path, target, words, mark, indent):
    """The command that shows a file or a part of it."""
    file = from_root(path, target)
    if mark.startswith("<!-- quote:"):
        return quoted(path, file, mark)
    if mark == "<!-- part -->":
        return f"\\snippet{{lineno}} {file} {words.rpartition(', in ')[0]}"
    if mark == "<!-- whole -->":
        return f"\\{'include' if file.endswith(('.cu', '.cpp', '.hpp')) else 'verbinclude'} {file}"
    return f"\n{indent}".join((f"\\dontinclude {file}", *(f"\\{'skip' if kind == 'from' else 'until'} {text}" for kind, text in LINES.findall(mark))))


def link(path, match):
    """A link in Doxygen's syntax."""
    bullet, words, target = match["bullet"] or "", match["words"], match["target"]
    if "://" in target or target.startswith("mailto:"):
        return match[0]
    if match["mark"]:
        indent = re.search(r" *\Z", match.string[:match.start()])[0]
        return bullet + shown(path, target, words, match["mark"], indent)
    name, _, anchor = target.partition("#")
    file = from_root(path, name) if name else path
    label = anchor or label_of(file)
    words = " ".join(words.split())
    if not label and os.path.dirname(file) == os.path.dirname(path) and file.endswith((".cpp", ".cu")):
        return f'{bullet}\\subpage {label_of(path)}_source "{words}"'
    if not label:
        return bullet + words
    return f'{bullet}\\{"subpage" if bullet and is_below(path, file) else "ref"} {label} "{words}"'


def token(path, match):
    """A matched construct in Doxygen's syntax."""
    if match["display"] is not None:
        return f"{match['indent']}\\f[ {match['display'].strip()} \\f]"
    if formula := match["guarded"] or match["inline"]:
        return f"\\f${formula}\\f$"
    if match["own"]:
        return f"\\htmlinclude {label_of(path)}_{match['own']}.html"
    if match["file"]:
        return f"\\{'html' if match['file'].endswith('.html') else 'verb'}include {match['file']}"
    if match["target"]:
        return link(path, match)
    if match["heading"]:
        return f"{match['heading']} {{#{match['name']}}}"
    return f"\\anchor {match['anchor']} " if match["anchor"] else match[0]


def for_doxygen(text, path):
    """The text of a page in Doxygen's syntax; the path is relative to the root."""
    label = label_of(path)
    if label:
        text = re.sub(r"\A(# [^\n{]+)$", rf"\1 {{#{label}}}", text, flags=re.MULTILINE)
    return TOKEN.sub(lambda match: token(path, match), text)


def read(path, root=ROOT):
    """The text of a page in Doxygen's syntax."""
    path = pathlib.Path(path)
    inside = path.resolve().is_relative_to(pathlib.Path(root).resolve())
    return for_doxygen(path.read_text(), path.resolve().relative_to(pathlib.Path(root).resolve()).as_posix() if inside else path.name)
