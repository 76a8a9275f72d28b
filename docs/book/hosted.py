r"""Pages as a code host shows them, and what Doxygen makes of them.

The sources of the pages are plain Markdown, to be read where people first meet them. What Doxygen needs is made of that here:

    $a b$, and $`a\,b`$ where Markdown would take some sign for its own    a formula
    ```math                                                                a formula on lines of its own
    [05 Unrolled](../05_unrolled/README.md)                                a link to a page
    [warp](../../docs/pages/glossary.md#term_warp)                         a link to an anchor
    <a id="term_warp"></a>                                                 an anchor, or on the line above a heading its name
    [unrolled.cu](unrolled.cu)                                             of a stage's own source: a link to the page that shows it
    From [tiled.cu](../04_tiled/tiled.cu) to [unrolled.cu](unrolled.cu).<!-- diff -->       the diff
    [load, in unrolled.cu](unrolled.cu)<!-- part -->                       what lies there between comments `// [load]`
    [ata.txt](../../docs/results/h200/ata.txt)<!-- whole -->               all of a file
    [the function](unrolled.cu)<!-- from: solve( to: } -->                 lines of a file, from one with these words to one with those
    <!-- figures -->, <!-- proved -->, <!-- stages -->                     what the book has of this very stage or workload
    *A plot is here in the book.*<!-- diagram.NAME.html -->                what the book draws or counts, and words that stand for it

The names of pages are those of their directories, or of their files in docs/pages. A list on the first page, and one in a workload's
page, leads to the pages that are below it. Any other file that a link leads to is no part of the book: its words remain.
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
    | (?P<bullet>^-[ ])?(?<!!)\[(?P<words>{WORDS}+)\]\((?P<target>[^)\s]+)\)(?P<mark><!--[ ](?:part|whole|from:.*?|to:.*?)[ ]-->)?
    | ^<a[ ]id="(?P<name>[\w-]+)"></a>\n+(?P<heading>\#+[ ][^\n]+)$
    | <a[ ]id="(?P<anchor>[\w-]+)"></a>
    """, re.MULTILINE | re.DOTALL | re.VERBOSE)
LINES = re.compile(r"(from|to): (.+?) (?=from:|to:|-->)")


def label_of(path):
    """The label of the page that a file or a directory, named from the root, is in the book, if it is one."""
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
    """The file that a link of a page leads to, named from the root."""
    return os.path.normpath(os.path.join(os.path.dirname(path), target))


def is_below(path, other):
    """Whether a list of a page leads to another page that is below it: any of the first page, a workload's own stages."""
    return path == "docs/pages/mainpage.md" or (
        path.count("/") == 2 and path.endswith("/README.md") and os.path.dirname(os.path.dirname(other)) == os.path.dirname(path))


def shown(path, target, words, mark, indent):
    """What shows a file or a part of it."""
    file = from_root(path, target)
    if mark == "<!-- part -->":
        return f"\\snippet{{lineno}} {file} {words.rpartition(', in ')[0]}"
    if mark == "<!-- whole -->":
        return f"\\{'include' if file.endswith(('.cu', '.cpp', '.hpp')) else 'verbinclude'} {file}"
    return f"\n{indent}".join((f"\\dontinclude {file}", *(f"\\{'skip' if kind == 'from' else 'until'} {text}" for kind, text in LINES.findall(mark))))


def link(path, match):
    """A link as Doxygen takes it."""
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
    """A piece of a page as Doxygen takes it."""
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
    """The text of a page, named from the root, as Doxygen takes it."""
    label = label_of(path)
    if label:
        text = re.sub(r"\A(# [^\n{]+)$", rf"\1 {{#{label}}}", text, flags=re.MULTILINE)
    return TOKEN.sub(lambda match: token(path, match), text)


def read(path, root=ROOT):
    """The text of a page as Doxygen takes it."""
    path = pathlib.Path(path)
    inside = path.resolve().is_relative_to(pathlib.Path(root).resolve())
    return for_doxygen(path.read_text(), path.resolve().relative_to(pathlib.Path(root).resolve()).as_posix() if inside else path.name)
