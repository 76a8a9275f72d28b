r"""Prints a page as Doxygen reads it: python3 docs page [--whole] FILE.md

Comments with the sources of figures are removed, because Doxygen would also drop the space after such a comment. A number
stays on one line with its unit. The tags of folded text (`details`, `summary`) are marked as HTML, because Doxygen would
otherwise end the folded text after its first paragraph.

With --whole, the page requests everything that the build of the book generates. Without --whole, `doxygen` works without
the generator: a sentence replaces each diff, table, plot and diagram, and the source of a stage replaces the link to its
page.
"""

import pathlib
import re
import shlex

from book import hosted, stages, woven

MARK = re.compile(r"(?P<code>^ *(?P<fence>`{3,}).*?^ *(?P=fence) *$|`[^`\n]*`)|<!-- [^>\n]* -->", re.MULTILINE | re.DOTALL)
ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUEST = re.compile(r"(?<!`)\\(?:html|verb)include (?P<file>\w+(?:\.\S+|_(?:diff|figures|proved|stages|piece_\w+))\.html"
                     r"|figure_keys\.txt|(?:climb_\w+|played_\w+|reading_paths|ladder_ends|headers|warp)\.html)")
# The subjects of the sentences that replace generated files, by the first or the last word of the file's name.
BUILT = {"diff": "The diff", "figures": "The table of recorded times", "stages": "The table of the stages",
         "proved": "The slicer's report on the parallel loops",
         "piece": "A piece of a diff", "climb": "A ladder", "paths": "The table of reading paths", "ends": "The table of where each ladder ends",
         "headers": "The list of headers",
         "warp": "A figure to play with", "played": "A figure to play with",
         "keys": "The list of keys", "diagram": "A diagram", "cost_model": "A table of the cost model",
         "communication": "A table or a plot of the cost of communication"}


def without_marks(text):
    """The text without the comments that name the sources of figures."""
    text = re.sub(r"(\d) ([^ <\n]*<!-- )", r"\1&nbsp;\2", text)
    return MARK.sub(lambda match: match["code"] or "", text)


def with_folds(text):
    """The text with the tags of folded text marked as HTML."""
    text = re.sub(r"^(<details>\n<summary>.*</summary>)$", r"\\htmlonly[block]\1\\endhtmlonly", text, flags=re.MULTILINE)
    return re.sub(r"^(</details>)$", r"\\htmlonly[block]\1\\endhtmlonly", text, flags=re.MULTILINE)


def stand_in(match):
    """The sentence that replaces a generated file."""
    if "_piece_" in match["file"]:
        return f"<em>{BUILT['piece']} is here in the book that `./climb book` makes.</em>"
    words = re.split(r"[_.]", match["file"])
    first, last = words[0] if words[0] in ("climb", "played") else match["file"].split(".")[0], words[-2]
    return f"<em>{BUILT.get(first) or BUILT.get(last) or 'A plot'} is here in the book that `./climb book` makes.</em>"


def by_hand(text, path):
    """The text in which sentences replace all generated files."""
    text = REQUEST.sub(stand_in, text)
    text = re.sub(r'(?<!`)\\subpage \w+_source "[^"]*"\.?',
                  lambda _: f"\n\n\\include{{lineno}} {stages.find_source(path.parent).relative_to(ROOT)}\n", text)
    return re.sub(r'\\(?:subpage|ref) results\b(?: "[^"]*")?', "*Results*", text)


def with_notes(text, path):
    """A stage's page with a link to its notes, which a reader can skip."""
    notes = path.with_name("notes.md")
    if path.name != "README.md" or not notes.exists():
        return text
    label = hosted.label_of(notes.relative_to(ROOT).as_posix())
    return f"{text}\nFurther measurements and experiments are on a page that you can skip: \\subpage {label}.\n"


def text_of(path, whole):
    """A page as Doxygen reads it."""
    path = pathlib.Path(path).resolve()
    text = with_notes(hosted.read(path), path)
    return with_folds(without_marks(woven.with_pieces(text, path) if whole else by_hand(text, path)))


def write(inputs, directory, whole):
    """Writes all pages below the input directories as Doxygen reads them, and returns a filter command for Doxygen.

    The filter prints the written files. Starting Python for each page would take longer than the rest of Doxygen's work.
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
