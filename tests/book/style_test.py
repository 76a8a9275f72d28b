r"""Checks the style of visible text.

Usage: style_test.py ROOT checks all rewritten pages and prints the results in the Test Anything Protocol (TAP).
       style_test.py [--advice] FILE... checks the given files.

Four rules are enforced:

    terms      standard terms replace the words of TERMS, except in the phrases that each entry permits
    length     no sentence has more than 40 words, and at least nine of ten sentences have at most 30
    figures    one of the last four sentences of the paragraph before a diagram refers to the figure
    lists      no line of a paragraph begins like an item of a list

The visible text of a page is its Markdown without code, formulas, directives, link targets and the titles of stages.
Cells of tables are checked only for terms. In a source in C++ or CUDA, the rules for terms and length apply to the
comments, the title and the idea.

Given files, the test prints one line per finding, and its exit status is 1 if there are any findings. With --advice, it
also prints hints that no rule enforces: sentences of more than 25 words, sentences that begin with a free relative ("What
comes ...") or with a bare pronoun, and some phrases.
"""

import dataclasses
import pathlib
import re
import sys

# The rewritten files, as patterns below the root. Add the pages and the sources of a workload once they are rewritten.
REWRITTEN = (*(f"docs/pages/{name}.md" for name in (
    "adding_a_stage", "advection_cost_model", "cuda_collections", "cuda_samples", "cuda_without_a_gpu",
    "from_data_to_coefficients", "gallery_of_bugs", "glossary", "harness", "how_a_gpu_runs_a_program", "how_to_predict_a_time",
    "how_to_read", "lab_coalescing_and_tiling", "lab_coalescing_and_tiling_slides", "lab_reduction_and_races",
    "lab_reduction_and_races_slides", "learning_by_doing", "mainpage", "measuring", "proving_a_loop_parallel", "references", "slicing_a_loop",
    "transformations", "warm_up", "what_communication_costs")),
    *(f"stages/{workload}/{pages}" for workload in (
        "advection", "advection_distributed", "ata", "cholesky", "durbin_levinson", "durbin_levinson_batched", "local_volatility",
        "matmul", "nbody", "triangular_solve")
      for pages in ("README.md", "*/*.md")),
    "common/cuda_on_cpu/README.md", "common/slicer/README.md", "README.md")
# Pages about slicing a loop, where "slice" is the term, and pages that link to the chapter about it.
SLICING = re.compile(r"slicing_a_loop\.md|stages/matmul/|docs/slicing/|common/slicer/|stages/nbody/(?:03|08|09|12)_")

LONGEST, LONG, MOST_LONG = 40, 30, 0.1  # maximum number of words; words above which a sentence is long;
                                        # maximum fraction of long sentences


@dataclasses.dataclass
class Term:
    """A word that readers misunderstand: its pattern, the word to use instead, and phrases in which it is correct."""

    name: str
    pattern: str
    write: str
    right: str = ""
    unless: str = ""  # pattern of pages on which the word is correct
    where: str = ""  # pattern of the paths of files to which the rule applies

    def found(self, sentence, page, path):
        """The words of a sentence that match this term, in a file at `path` whose text is `page`."""
        if (self.where and not re.search(self.where, path)) or (self.unless and re.search(self.unless, page, re.IGNORECASE)):
            return []
        if self.right:
            sentence = re.sub(self.right, lambda match: "·" * len(match[0]), sentence, flags=re.IGNORECASE)
        return [match[0] for match in re.finditer(self.pattern, sentence, re.IGNORECASE)]


TERMS = (
    Term("tell", r"\b(tells?|told|telling)\b", "report, publish, signal or send"),
    Term("say of", r"\b(says?|said) of\b", "report about"),
    Term("numbers (data)", r"\bnumbers\b|\b(thread|block|lane|warp|rank|row|column)'s number\b|\bnumbers? that (is|are) none\b"
         r"|\b(each|every|a|one|two|same) numbers? (that|which) (is|was|were|are) (loaded|stored|read|written)\b|\bhow many numbers\b",
         "elements, values or entries; index; NaN",
         r"\bnumbers of\b|\b(floating-point|random|prime|complex|real|natural|whole|integer|line|version|condition|binary|decimal|"
         r"double-precision|single-precision|denormal|subnormal|even|odd|rational|page|Courant) numbers\b"),
    Term("turn", r"\b(a|the|this|that|each|every|one|per|next|last|first|its|of|two|four|by) turns?\b|\bturns\b|\bturned\b"
         r"|\btake(s|n)? turns\b", "iteration or step; transposed",
         r"\bturn(s|ed)? (out|into|off|on)\b|\bin turn\b|\bturned (a|the|it) \w+ (into|off|on)\b"),
    Term("meet", r"\b(meets?|met|meetings?)\b", "synchronise, barrier; conflict; intersect",
         r"\bmeets? (the|this|that|its|a|all|these|no) (\w+ )?(condition|requirement|limit|target|bound|goal)s?\b|\b(is|are) met\b"
         r"|\bUsers' Group Meeting\b"),
    Term("on their way", r"\bon (their|its|the) way\b|\bunder way\b", "in transit, in flight"),
    Term("taken off", r"\btak(en|es|e|ing) off\b|\btook off\b|\blos(e|es|t|ing) (its |the |their |all |some )?products\b",
         "subtracted, updated"),
    Term("what is left of", r"\bwhat is left of\b", "partially updated element; Schur complement"),
    Term("come again", r"\b(come|comes|came) again\b", "are transferred (read) again"),
    Term("place", r"\b(a|the|its|their|own|same|each|every|that|this|another|other|two|three|four|both|which|whose|free|empty|last|next) "
         r"places?\b", "slot, position or index",
         r"\b(takes?|took|taken|taking) (the|its|their) places?( of)?\b|\bin the (first|last) place\b|\bdecimal places\b|\bthe place of\b"),
    Term("round", r"\brounds?\b", "wave (of blocks); wavefront (of shared memory)",
         r"\bround[- ]trips?\b|\bround[- ]robin\b|\brounds? (to|at|in|up|down|off|its|each|the|every|all|both|once|twice|differently|a)\b"),
    Term("slice", r"\bslices?\b", "split-K partition, sub-tile, block of C", r"\bL2 slices?\b|\bslicing\b"),
    Term("others (bodies)", r"\bothers\b|\bpairs' test\b", "source bodies; all-pairs test", where=r"stages/nbody/"),
    Term("held to", r"\bheld (to|against)\b|\b(hold|holds|holding) (it|them|all|this|that|each|every|stages?|programs?|a|the) "
         r"(\w+ ){0,2}(to|against)\b", "checked against, validated against"),
    Term("planted", r"\bplanted\b|\btwins?\b", "seeded fault; correct counterpart"),
    Term("yardstick", r"\byardsticks?\b", "baseline"),
    Term("floor", r"\bfloors?\b", "lower bound", r"\bfloor (function|of a division|division)\b"),
    Term("of limit, of copy", r"\bof limit\b|\bof copy\b", "% of peak, % of copy bandwidth", r"\bof copy bandwidth\b"),
    Term("in all", r"\bin all(?=\s*([.,;:)|]|$))", "total, in total"),
    Term("beside", r"\bbeside\b", "next to, concurrently with, in addition to"),
    Term("behind", r"\bbehind\b", "after or beyond",
         r"\b(ideas?|reason|reasoning|port) behind\b|\bbehind (the same port|one port)\b|\b(fall|falls|fell|lag|lags|left|stays?|hidden) behind\b"),
    Term("whole, full (sectors, stores)", r"\b(full|whole) (sectors|stores|loads)\b|\bsectors are (whole|full)\b", "fully coalesced"),
    Term("first-level cache", r"\b(first|second)[- ]level( cache)?\b", "L1, L2"),
    Term("multiprocessor", r"\bmultiprocessors?\b", "SM", r"\bstreaming multiprocessors?\b|\bVectorization for Multiprocessors\b"),
    Term("special units", r"\bspecial units?\b", "special function units (SFU)"),
    Term("plain units", r"\bplain (\w+ )?units?\b", "CUDA cores (FP64 pipeline)"),
    Term("mark (a store)", r"\bmark(s|ed|ing)? (a |the |each |its |these |those |such )?(store|load)s?\b|\b(store|load)s? (is|are) marked\b",
         "cache hint, eviction hint"),
    Term("give away", r"\bg(ive|ives|iven|iving|ave) away\b|\bgather and give\b", "push; right-looking"),
    Term("keep step", r"\b(keep|keeps|keeping|kept) step\b|\bin step(?= with\b|[.,;:)]|$)", "stay synchronised; tile-order swizzling for L2 reuse"),
    Term("dealt", r"\bdeal(s|ing)? out\b|\bdealt\b|\bdrawn (tile|row|column|pair|block|number|task)s?\b"
         r"|\b(tile|row|column|pair|block|number|task)s? (is|are) drawn\b", "distributed cyclically; claimed from an atomic counter",
         r"\bdealt with\b"),
    Term("known (an unknown)", r"\bunknowns? (is|are|was|were|becomes?) known\b|\bknown unknowns?\b", "computed"),
    Term("noted", r"\b(is|are|was|were) noted\b|\bnotes (who|what|which|each|every|that)\b", "logged, log"),
    Term("a fill, given back", r"\ba fill\b|\bfills and copies\b|\bg(ive|ives|iven|iving|ave) (\w+ ){0,2}back\b", "memset; freed"),
    Term("mistake (of a tool's report)", r"\b(planted|seeded) mistakes?\b|\bmistakes? (was|were|is|are) (found|reported|counted)\b"
         r"|\b(finds?|found|reports?|lists?|counts?) (\w+ )?mistakes?\b", "error"),
    Term("bodies without mass", r"\b(bodies|body|stars?) without mass\b", "zero-mass padding"),
    Term("reckoned, by hand", r"\breckon(s|ed|ing)?\b|\bby hand\b", "estimated; in a separate manual run",
         r"\b(written|unrolled|coded|derived|write|computed|unroll|vectorised|done|made|measured|tuned|run|set)( \w+){0,3} by hand\b"),
    Term("asked", r"\b(is|are|was|were) asked\b|\basks\b", "tested, requested"),
    Term("chain", r"(?<!dependency )(?<!dependence )(?<!latency )(?<!dependency-)\bchains?\b", "dependency chain, critical path",
         r"\bMarkov chains?\b|\bchain rule\b", unless=r"dependen(cy|ce) chain|critical path|latency chain"),
    Term("the bus", r"\b(the|a|over) bus\b", "PCIe or NVLink, by name"))
ADVICE = (
    (re.compile(r"^(What|Who|Whoever|Whatever)\b(?!.*\?$)(?! limits the program now)"), "begins with a free relative"),
    (re.compile(r"^(That|This|It|These|Those) (is|are|was|were|has|have|does|makes?|takes?|means?)\b"), "begins with a pronoun without a noun"),
    (re.compile(r"\b(that|those) of\b", re.IGNORECASE), "'that of'"),
    (re.compile(r"\b(do|does|make do) with\b|\bis as if\b|\bby the model\b|\bbit by bit\b", re.IGNORECASE), "phrase"),
    (re.compile(r"\d(\.\d+)? ?× (faster|slower)"), "'N × faster': write N times as fast as"))

FIGURE = re.compile(r"\b(figures?|diagrams?|drawings?|pictures?|plots?|animation)\b", re.IGNORECASE)
DRAWN = re.compile(r"(?:\*[^*\n]+\*)?<!-- (diagram\.[\w.-]+|played_\w+\.html|warp\.html) -->")
BOUNDARY = re.compile(r"""(?<=[.!?])(?:["'”’)*]*)\s+(?=["“‘(*]*[A-ZÀ-Þ0-9ᴬA-Z$∑∂])""")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf|Fig|Eq|eq|resp|approx|al|No|Sec|Sect|Dr|St|p|pp|Vol|vol)\.$")


@dataclasses.dataclass
class Block:
    """A paragraph, an item of a list, a row of a table, a heading or a diagram of a page."""

    kind: str  # text, cells, heading or drawn
    line: int
    text: str


def visible(text):
    """A paragraph of Markdown, reduced to the words that a reader sees."""
    text = re.sub(r"From \[[^\]]*\]\([^)]*\) to \[[^\]]*\]\([^)]*\)\.<!-- diff -->", "", text)
    text = re.sub(r"\[(?:[^][`]|`[^`]*`)*\]\([^)\s]*\)\s*<!-- (part|whole|from:.*?|to:.*?) -->", "", text, flags=re.DOTALL)
    text = re.sub(r"\*[^*\n]+\*<!-- ([\w.-]+\.(html|txt)|diff|figures|proved|stages) -->", "", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "Code", text, flags=re.DOTALL)
    text = re.sub(r"\$`[^`]+`\$|\$[^\s$](?:[^$]*[^\s$])?\$", "Formula", text)
    text = re.sub(r"!?\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]+)\)",
                  lambda match: "Stage" if re.search(r"\b\d\d\b", match[1]) and "stages/" not in match[1] else match[1], text)
    text = re.sub(r"<https?://[^>]*>|https?://\S+", "link", text)
    text = re.sub(r"</?[a-zA-Z][^>]*>", "", text)
    text = re.sub(r"\\(subpage|ref) \w+ ?", "", text)
    text = re.sub(r"&nbsp;|&#160;", " ", text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    text = re.sub(r"(?<![\w*])\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?![\w*])|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)", "", text)
    return " ".join(text.split())


def blocks_of_page(text):
    """The blocks of a page in order."""
    blocks, lines, first, fence = [], [], 0, ""

    def flush():
        if lines:
            joined = " \n".join(lines)
            at = 0
            for match in DRAWN.finditer(joined):
                if visible(joined[at:match.start()]):
                    blocks.append(Block("text", first, visible(joined[at:match.start()])))
                blocks.append(Block("drawn", first, match[1]))
                at = match.end()
            if visible(joined[at:]):
                blocks.append(Block("text", first, visible(joined[at:])))
            lines.clear()

    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if match := re.match(r"(`{3,}|~{3,})", stripped):
            if not fence:
                flush()
                fence = match[1]
            elif stripped.startswith(fence) and stripped.strip("`~") == "":
                fence = ""
            continue
        if fence:
            continue
        stripped = re.sub(r"^(> ?)+", "", stripped)
        if not stripped or re.fullmatch(r"</?(details|summary|table|div|p)[^>]*>|---+|\*\*\*+", stripped):
            flush()
        elif stripped.startswith("#"):
            flush()
            # A stage's title can be changed only by renaming the stage.
            if not re.match(r"# (.*\b)?\d\d\b", stripped):
                blocks.append(Block("heading", number, visible(stripped.lstrip("# "))))
        elif stripped.startswith("|"):
            flush()
            if not re.fullmatch(r"[|:\- ]+", stripped):
                blocks.append(Block("cells", number, visible(stripped)))
        else:
            item = re.match(r"([-*+]|\d+[.)])\s+", stripped)
            if item or stripped.startswith("<summary>"):
                flush()
            if not lines:
                first = number
            lines.append(stripped[item.end():] if item else stripped)
    flush()
    return blocks


def blocks_of_source(text):
    """The comments, titles and ideas of a source."""
    blocks, lines, first = [], [], 0

    def flush():
        if lines:
            blocks.append(Block("text", first, visible(" ".join(lines))))
            lines.clear()

    for number, line in enumerate(text.splitlines(), 1):
        comment = re.search(r"(?:^|\s)//[/!<]*(?: (.*))?$", line)
        alone = comment and not line[:comment.start()].strip()
        words = (comment[1] or "").strip() if comment else ""
        if re.fullmatch(r"\[.*\]|\\file.*|SPDX.*", words):
            words = ""
        words = re.sub(r"[\\@](param|tparam|return|returns|brief|throws?)(\[\w+\])?\s*", "", words)
        if not alone or not words or re.match(r"[A-Z][a-z]+: ", words):
            flush()
        if words:
            if not lines:
                first = number
            if not re.match(r"(Run|From): ", words):
                lines.append(re.sub(r"^(Changed|Legal|Expect|Next): +", "", words))
            if not alone:
                flush()
        for title in re.finditer(r"\.(title|idea) = ((?:\"(?:[^\"\\]|\\.)*\"\s*)+)", line):
            blocks.append(Block("text", number, visible(title[2].strip().strip('"'))))
    flush()
    return [block for block in blocks if block.text]


def sentences_of(text):
    """The sentences of a paragraph."""
    found, begin = [], 0
    for match in BOUNDARY.finditer(text):
        if ABBREVIATION.search(text[begin:match.start()]):
            continue
        found.append(text[begin:match.end()].strip())
        begin = match.end()
    found.append(text[begin:].strip())
    return [sentence for sentence in found if re.search(r"\w", sentence)]


def words_in(sentence):
    """The number of words of a sentence."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def blocks_of(text, path):
    """The blocks of a file."""
    return blocks_of_page(text) if path.endswith(".md") else blocks_of_source(text)


def wrong_terms(text, path):
    """Yields (line, finding) for words that have a standard term."""
    blocks = blocks_of(text, path)
    page = " ".join(block.text for block in blocks)
    for block in blocks:
        for sentence in sentences_of(block.text) if block.kind in ("text", "heading", "cells") else ():
            for term in TERMS:
                if term.name == "slice" and (SLICING.search(path) or "slicing_a_loop.md" in text):
                    continue
                for words in term.found(sentence, page, path):
                    yield block.line, f"'{words}': write {term.write}: {sentence}"


def long_sentences(text, path):
    """Yields (line, finding) for sentences that are too long, and one finding if too many sentences are long."""
    sentences = [(block.line, sentence, words_in(sentence)) for block in blocks_of(text, path) if block.kind == "text"
                 for sentence in sentences_of(block.text)]
    long = [(line, sentence, count) for line, sentence, count in sentences if count > LONG]
    for line, sentence, count in long:
        if count > LONGEST:
            yield line, f"a sentence of {count} words, {LONGEST} at most: {sentence}"
    # A comment of one sentence is too small a sample.
    if len(long) > max(1, MOST_LONG * len(sentences)):
        yield 1, f"{len(long)} of {len(sentences)} sentences have more than {LONG} words, {MOST_LONG:.0%} at most"
        yield from ((line, f"a sentence of {count} words: {sentence}") for line, sentence, count in long if count <= LONGEST)


def unannounced_figures(text, path):
    """Yields (line, finding) for diagrams that the text before them does not mention."""
    if not path.endswith(".md"):
        return
    before = None
    for block in blocks_of_page(text):
        if block.kind == "drawn":
            said = sentences_of(before.text)[-4:] if before and before.kind == "text" else []
            if not any(FIGURE.search(sentence) for sentence in said):
                yield block.line, f"{block.text}: the paragraph before it does not refer to the figure and say what to look at"
        before = block if block.kind != "drawn" else before


MARKER = re.compile(r" {0,3}(?:\d+[.)]|[-+*]) ")  # matches the marker of an item of a list
IN_PARAGRAPH = re.compile(r"(?![ \t|#>`<]|$)")  # matches the beginning of a line that may belong to a paragraph


def accidental_lists(text, path):
    """Yields (line, finding) for lines of paragraphs that Markdown treats as items of lists, because they begin with a
    list marker: a number and a full stop, or a sign."""
    if not path.endswith(".md"):
        return
    before, is_code, is_list = "", False, False
    for number, line in enumerate(text.splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        is_item = bool(MARKER.match(line)) and not is_code
        in_paragraph = bool(IN_PARAGRAPH.match(before)) and not is_list and not before.rstrip().endswith((":", "-->"))
        if is_item and in_paragraph:
            yield number, f"this line of a paragraph begins like an item of a list: {line[:40]}"
        is_list = is_item or (is_list and bool(line.strip()))
        before = line


RULES = {"terms": wrong_terms, "length": long_sentences, "figures": unannounced_figures, "lists": accidental_lists}


def advice(text, path):
    """Yields (line, hint) for sentences that deserve a second look."""
    for block in blocks_of(text, path):
        for sentence in sentences_of(block.text) if block.kind == "text" else ():
            if (count := words_in(sentence)) > 25:
                yield block.line, f"{count} words: {sentence}"
            yield from ((block.line, f"{why}: {sentence}") for pattern, why in ADVICE if pattern.search(sentence))


def counts(text, path):
    """The number of sentences of a file, and of those with more than 30 words."""
    sentences = [sentence for block in blocks_of(text, path) if block.kind == "text" for sentence in sentences_of(block.text)]
    return len(sentences), sum(words_in(sentence) > LONG for sentence in sentences)


def rewritten(root):
    """The rewritten files below the root."""
    return sorted({path for pattern in REWRITTEN for path in root.glob(pattern)})


def over(root, rule):
    """Yields the findings of a rule in all rewritten files."""
    for path in rewritten(root):
        name = path.relative_to(root).as_posix()
        yield from (f"{name}:{line}: {finding}" for line, finding in RULES[rule](path.read_text(), name))


SEEDED = {
    "terms": (
        ("Each thread reports its row.\n", "Each thread tells of its row.\n"),
        ("The number of blocks. Numbers of blocks differ.\n", "A block loads 512 numbers.\n"),
        ("It turns out that the matrix is transposed.\n", "In each turn the matrix is turned.\n"),
        ("The call `tell()` <!-- told --> $told$.\n", "- An item says of it\n"),
        ("| a | rounds to zero |\n", "| a | two rounds |\n"),
        ("A round trip takes 2 µs.\n", "## The next round\n"),
        ("Blocks wait in place; thread 3 takes the place of thread 2.\n", "Each block has a place.\n"),
        ("A dependency chain is long. The chain has nine links.\n", "The chain has nine links.\n"),
        ("The stage takes 3 ms in all cases.\n", "The stage takes 3 ms in all.\n"),
        ("[05 Told](../05_told/README.md) is next.\n", "[Told](../05_told/README.md) is next.\n"),
        ("We unrolled it by hand.\n", "We reckoned it by hand.\n"),
        ("A streaming multiprocessor (SM) has four schedulers.\n", "A multiprocessor has four schedulers.\n"),
        ("Every stage is checked against stage zero.\n", "Every stage is held to stage zero.\n")),
    "length": (
        ("Short. " * 19 + "Word " + "word " * 30 + ". A2 is short.\n", "word " * 41 + ".\n"),
        (f"{'Short. ' * 30}{('Word ' + 'word ' * 31 + '. ') * 3}\n", f"{'Short. ' * 20}{('Word ' + 'word ' * 31 + '. ') * 3}\n"),
        ("```\n" + "word " * 50 + "\n```\n" + "| word " * 50 + "|\n", "- " + "word " * 41 + "\n")),
    "figures": (
        ("The figure shows both tiles. Follow the green row.\n\n*A diagram is here.*<!-- diagram.x.html -->\n",
         "There are two tiles.\n\n*A diagram is here.*<!-- diagram.x.html -->\n"),
        ("The figure shows both: *A figure.*<!-- played_tile.html -->\n", "## The figure\n\n*A figure.*<!-- played_tile.html -->\n")),
    "lists": (
        ("Stages:\n- 1\n- 2\n\n1. One\n2. Two\n   lines\n3. Three\n", "Orders are at most\n1024. A step follows.\n"),
        ("```\na\n+ b\n```\n\n| a |\n- b\n", "It is in row r\n+ 8 of the tile.\n"))}
SOURCES = (("// The block's rows\n// are checked.\nint a;  // rounds to zero\n", "int a;\n// how many rows have\n// told of theirs\n"),
           ('  .title = "Tiled",\n', '  .title = "Told to all",\n'))


def accepted_faults():
    """Yields seeded faults that a rule does not find, and correct text that a rule refuses."""
    samples = [(rule, "docs/pages/x.md", *pair) for rule, pairs in SEEDED.items() for pair in pairs]
    samples += [("terms", "stages/w/01_x/x.cu", *pair) for pair in SOURCES]
    for rule, path, right, wrong in samples:
        yield from (f"{rule}: {right!r} is refused: {finding}" for _, finding in RULES[rule](right, path))
        if not list(RULES[rule](wrong, path)):
            yield f"{rule}: {wrong!r} is accepted"
    if not list(wrong_terms("A slice of C.\n", "stages/ata/README.md")) or list(wrong_terms("A slice of C.\n", "stages/matmul/README.md")):
        yield "terms: 'slice' is the term on pages about slicing a loop, and only there"


def check_files(names, advise):
    """Prints the findings in some files; returns the exit status."""
    status = 0
    for name in names:
        text, path = pathlib.Path(name).read_text(), pathlib.Path(name).resolve().as_posix()
        for rule, check in RULES.items():
            for line, finding in check(text, path):
                print(f"{name}:{line}: {rule}: {finding}")
                status = 1
        if advise:
            for line, hint in advice(text, path):
                print(f"{name}:{line}: advice: {hint}")
        print("{}: {} sentences, {} of them with more than {} words".format(name, *counts(text, path), LONG), file=sys.stderr)
    return status


def main(*words):
    """Checks all rewritten files, or the given files."""
    if len(words) == 1 and pathlib.Path(words[0]).is_dir():
        import tap  # only the build has tap on its path
        root = pathlib.Path(words[0]).resolve()
        tap.report((("every pattern of rewritten files matches a file",
                     (f"the pattern {p} matches no file" for p in REWRITTEN if not any(root.glob(p)))),
                    ("the text uses the standard terms of the field", over(root, "terms")),
                    ("no sentence has more than 40 words, and at most 10 % have more than 30", over(root, "length")),
                    ("the text before each diagram refers to it", over(root, "figures")),
                    ("no line of a paragraph begins like an item of a list", over(root, "lists")),
                    ("seeded faults are found, and correct text is accepted", accepted_faults())))
        return 0
    names = [word for word in words if word != "--advice"]
    if not names or any(name.startswith("-") for name in names):
        print(__doc__)
        return 2
    return check_files(names, "--advice" in words)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
