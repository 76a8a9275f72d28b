"""Checks the spelling of common words in pages, comments and messages: spelling_test.py ROOT. Prints TAP.

Codespell searches for common errors. With its inverted dictionary of British spellings, it also searches for American
spellings, because the pages are written in British English.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import tap

try:
    import codespell_lib
except ImportError:
    codespell_lib = None

ROOT = pathlib.Path(sys.argv[1])
TEXTS = {"", ".cpp", ".cu", ".cuh", ".css", ".cff", ".hpp", ".h", ".in", ".json", ".md", ".options", ".build", ".py", ".sh",
         ".html", ".yml"}
PLACES = ("*", ".ci/*", "common/**/*", "docs/*", "docs/[!r]*/**/*", "packaging/**/*", "stages/**/*", "tests/**/*")

# These words are correct here: the static memory of a CUDA program, a made-up key and its counterpart in a test, a
# dependence of a task, a comparison of signed numbers in a word (__vcmpges2), and a part of a tile.
RIGHT = ["statics", "nd", "inout", "ois", "ges", "subtile", "subtiles"]
# Words in the names of tools and titles.
NAMES = ["sanitize", "sanitizer", "sanitizers", "analyze", "license"]
# Newer versions of Codespell report these words as American. A computer's program is British, `math` is a block of
# Markdown, and dictionaries prefer "writable" in Britain, too.
NAMES += ["program", "programs", "math", "writable"]
# Names in languages, libraries and stages, and words of CUDA's error messages.
CODE = NAMES + ["color", "colors", "center", "centers", "sanitized", "canceled", "unrecognized", "initialization",
                "initialized", "uninitialized", "serialized", "synchronize", "optimize"]
# Quotations on a page keep their spelling: code, titles, links, files of snippets, a journal and its volume.
QUOTED = r"`[^`]*`|\*[^*]*\*|\[[^]]*\]\([^)]*\)|Optimi" r"zation \d+\("
# Functions of a library keep their names.
CALLED = r"\.\w+\("


def texts():
    """The files that readers see."""
    paths = {path for place in PLACES for path in ROOT.glob(place)}
    return sorted(path for path in paths if path.is_file() and path.suffix in TEXTS and path.name not in ("LICENSE", ".git"))


def british_dictionary(directory):
    """The path of Codespell's dictionary, inverted to map American spellings to British ones."""
    source = pathlib.Path(codespell_lib.__file__).parent / "data" / "dictionary_en-GB_to_en-US.txt"
    british = {}
    for line in source.read_text().splitlines():
        word, _, american = line.partition("->")
        for other in filter(None, map(str.strip, american.split(","))):
            british.setdefault(other, word)
    path = pathlib.Path(directory, "british.txt")
    path.write_text("".join(f"{american}->{word}\n" for american, word in british.items()))
    return path


def misspelled(paths, right, *arguments):
    """The findings of Codespell, one per line."""
    if not paths:
        return []
    command = ["codespell", "--quiet-level", "3", "--ignore-words-list", ",".join(right), *arguments, *map(str, paths)]
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode not in (0, 65):
        raise SystemExit(found.stderr)
    return found.stdout.splitlines()


def american(paths, dictionary):
    """American spellings in pages and in other files."""
    pages = [path for path in paths if path.suffix == ".md"]
    others = [path for path in paths if path.suffix != ".md"]
    return (misspelled(pages, NAMES, "--dictionary", str(dictionary), "--ignore-regex", QUOTED)
            + misspelled(others, CODE, "--dictionary", str(dictionary), "--ignore-regex", CALLED))


def accepted_faults(directory, dictionary):
    """Yields seeded errors that are not found."""
    for name, text in (("page.md", "We rec" "ieve it."), ("page.md", "The col" "or of a cell."), ("a.cpp", "// seper" "ate"),
                       ("a.py", '"""Neigh' 'bors."""')):
        path = pathlib.Path(directory, name)
        path.write_text(text + "\n")
        if not misspelled([path], RIGHT) + american([path], dictionary):
            yield f"the error is not found: {text}"


def main():
    """Prints one TAP line per check."""
    if not codespell_lib or not shutil.which("codespell"):
        tap.skip("codespell is not installed")
        return
    with tempfile.TemporaryDirectory() as directory:
        dictionary = british_dictionary(directory)
        paths = texts()
        checks = (("the repository has more than 100 files to check",
                   [] if len(paths) > 100 else [f"it has {len(paths)} files"]),
                  ("Codespell finds no misspelled word", misspelled(paths, RIGHT)),
                  ("all spellings are British", american(paths, dictionary)),
                  ("seeded faults are found", accepted_faults(directory, dictionary)))
        tap.report(checks, most=None)


main()
