"""C++ and CUDA as HTML in the colours of Doxygen's listings, and the differences between two lines."""

import difflib
import html
import re

PARTS = re.compile(r"""
    (?P<comment>//.*)
  | (?P<preprocessor>^\s*\#\s*\w+|<staircase/[\w/.]+>)
  | (?P<stringliteral>R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])')
  | (?P<keywordflow>\b(?:if|else|for|while|do|switch|case|default|return|break|continue|throw|try|catch|goto)\b)
  | (?P<keywordtype>\b(?:void|bool|char|int|unsigned|signed|long|short|float|double|auto|size_t|std::size_t|u?int\d+_t)\b)
  | (?P<keyword>\b(?:const|constexpr|static|struct|class|enum|namespace|using|template|typename|inline|operator|public|private
      |new|delete|this|nullptr|true|false|sizeof|noexcept|explicit|extern|volatile|mutable|static_cast|reinterpret_cast
      |__global__|__device__|__host__|__shared__|__restrict__|__launch_bounds__|__syncthreads|__align__)\b)
  | (?P<number>\b\d[\w.']*)
  | (?P<word>\w+)
  | (?P<space>\s+)
  | (?P<other><<<|>>>|\#pragma|[-+*/%&|^<>=!]=?|.)""", re.VERBOSE)
PLAIN = ("word", "space", "other", "number")
ALIKE = 0.5  # two lines with less in common are not treated as versions of one line


def parts(line):
    """The words and signs of a line, each with its CSS class."""
    return [(match[0], "" if match.lastgroup in PLAIN else match.lastgroup) for match in PARTS.finditer(line)]


def html_of(line, changed=()):
    """A line as HTML; `changed` contains the indices of the highlighted words."""
    text, within = "", False
    for n, (part, kind) in enumerate(parts(line)):
        if within != (n in changed):
            text += "</b>" if within else "<b>"
            within = not within
        part = html.escape(part, quote=False)
        text += f'<span class="{kind}">{part}</span>' if kind else part
    return text + ("</b>" if within else "")


def words(line):
    """The parts of a line as text."""
    return [part for part, _ in parts(line)]


def differing(before, after):
    """The indices of the words that a line loses and gains, or nothing if the two lines have little in common."""
    a, b = words(before) or [""], words(after) or [""]
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if matcher.ratio() < ALIKE:
        return None
    lost, gained = set(), set()
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        if operation != "equal":
            lost |= set(range(i1, i2))
            gained |= set(range(j1, j2))
    # A line's indentation is not a word.
    return lost - {0} if a[0].isspace() else lost, gained - {0} if b[0].isspace() else gained


def paired(before, after):
    """Pairs of replaced and new lines of a change, in order, with the differences of each pair."""
    found, first = [], 0
    bags = [set(words(line.strip())) for line in after]
    for i, line in enumerate(before):
        bag = set(words(line.strip()))
        likely = [j for j in range(first, min(len(after), first + 12))
                  if len(bag & bags[j]) * 2 > min(len(bag), len(bags[j])) and line.strip()]
        best = max(likely, key=lambda j: difflib.SequenceMatcher(None, words(line), words(after[j]), autojunk=False).ratio(),
                   default=None)
        if best is None:
            continue
        differs = differing(line, after[best])
        if differs:
            found.append((i, best, *differs))
            first = best + 1
    return found
