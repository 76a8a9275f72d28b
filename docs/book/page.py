r"""A page as Doxygen reads it: python3 docs page [--whole] FILE.md

Doxygen drops the space behind a comment, and with it the one between a figure and the next word; and a figure keeps its
unit on the same line. So comments that say where a figure comes from are taken out here. And what is folded, in `details`
with a `summary`, ends where its first paragraph ends, unless the two are no part of Markdown.

Unless the page is to be whole, what only the build of the book makes is taken out, too, so that Doxygen can be run by hand:
a sentence stands for each diff, table, plot and diagram, and a stage's source, which has a page in the book, is shown where
the book leads to it.
"""

import pathlib
import re
import shlex

from book import hosted, stages, woven

MARK = re.compile(r"(?P<code>^ *(?P<fence>`{3,}).*?^ *(?P=fence) *$|`[^`\n]*`)|<!-- [^>\n]* -->", re.MULTILINE | re.DOTALL)
ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUEST = re.compile(r"(?<!`)\\(?:html|verb)include (?P<file>\w+(?:\.\S+|_(?:diff|figures|proved|stages|piece_\w+))\.html"
                     r"|figure_keys\.txt|(?:climb_\w+|played_\w+|reading_paths|headers|warp)\.html)")
# By the first word of a file's name, or by its last.
BUILT = {"diff": "The diff", "figures": "The table of recorded times", "stages": "The table of the stages",
         "proved": "What the slicer says of the parallel loops",
         "piece": "A piece of a diff", "climb": "A ladder", "paths": "The table of ways to read", "headers": "The list of headers",
         "warp": "A figure to play with", "played": "A figure to play with",
         "keys": "The list of keys", "diagram": "A diagram", "cost_model": "A table of the cost model",
         "communication": "A table or a plot of what communication costs"}


def without_marks(text):
    """The text without comments that say where a figure comes from."""
    text = re.sub(r"(\d) ([^ <\n]*<!-- )", r"\1&nbsp;\2", text)
    return MARK.sub(lambda match: match["code"] or "", text)


def with_folds(text):
    """The text with what is folded as Doxygen leaves it alone."""
    text = re.sub(r"^(<details>\n<summary>.*</summary>)$", r"\\htmlonly[block]\1\\endhtmlonly", text, flags=re.MULTILINE)
    return re.sub(r"^(</details>)$", r"\\htmlonly[block]\1\\endhtmlonly", text, flags=re.MULTILINE)


def stand_in(match):
    """A sentence for what only the build of the book makes."""
    if "_piece_" in match["file"]:
        return f"<em>{BUILT['piece']} is here in the book that `./climb book` makes.</em>"
    words = re.split(r"[_.]", match["file"])
    first, last = words[0] if words[0] in ("climb", "played") else match["file"].split(".")[0], words[-2]
    return f"<em>{BUILT.get(first) or BUILT.get(last) or 'A plot'} is here in the book that `./climb book` makes.</em>"


def by_hand(text, path):
    """The text without what only the build of the book makes."""
    text = REQUEST.sub(stand_in, text)
    text = re.sub(r'(?<!`)\\subpage \w+_source "[^"]*"\.?',
                  lambda _: f"\n\n\\include{{lineno}} {stages.find_source(path.parent).relative_to(ROOT)}\n", text)
    return re.sub(r'\\(?:subpage|ref) results\b(?: "[^"]*")?', "*Results*", text)


def with_notes(text, path):
    """A stage's page with a link to its notes, the page beside it that a reader may skip."""
    notes = path.with_name("notes.md")
    if path.name != "README.md" or not notes.exists():
        return text
    label = hosted.label_of(notes.relative_to(ROOT).as_posix())
    return f"{text}\nWhat was measured and tried besides is on a page that may be skipped: \\subpage {label}.\n"


def text_of(path, whole):
    """A page as Doxygen reads it."""
    path = pathlib.Path(path).resolve()
    text = with_notes(hosted.read(path), path)
    return with_folds(without_marks(woven.with_pieces(text, path) if whole else by_hand(text, path)))


def write(inputs, directory, whole):
    """Writes all pages below some directories as Doxygen reads them; the filter that has Doxygen read what was written.

    To start Python anew for each page takes longer than all else that Doxygen does.
    """
    for path in (path.resolve() for of_input in inputs for path in pathlib.Path(of_input).glob("**/*.md")):
        written = pathlib.Path(directory, path.relative_to("/"))
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text_of(path, whole))
    script = pathlib.Path(directory, "filter.sh")
    script.write_text(f'cat {shlex.quote(str(directory))}"$(realpath "$1")"\n')
    return f"sh '{script}'"


def main(*words):
    """Prints the page."""
    *how, file = words or ("",)
    if how not in ([], ["--whole"]) or not file:
        return __doc__
    print(text_of(file, bool(how)), end="")
    return 0
