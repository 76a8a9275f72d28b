"""Makes a notebook of the first course, from the pages and the programs of the book: make_notebook.py OUT.ipynb

Each stage of AᵀA from 03 to 05 becomes the text of its page and a cell for %%cuda with the stage's kernel. Students change
and run the cell. The code that the programs share is in ata.cuh.
"""

import json
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
STAGES = ("03_naive_cuda", "04_tiled", "05_unrolled")
SECTIONS = ("The idea", "The transformation", "The work", "Correctness")

# Words in sentences about programs, commands and figures that the notebook does not contain.
ONLY_IN_BOOK = ("figure", "diagram", "In the diff", "The diff", "DeviceArray", "copy_from", "check_launch", "the host's part", "./climb",
                "commands below", "last command")
OPENING = """# AᵀA on a GPU, step by step

This notebook computes C = AᵀA for a matrix A of doubles. Each step changes one thing in the kernel of the step before it. All
programs run on the CPU device, which executes CUDA programs thread by thread, so no GPU is needed. The command `%%cuda` compiles
a cell and runs it. With `--analyze`, it also checks each memory access and shows a table of all accesses.

Change a kernel, run its cell, and see whether C is still right. `--args "100 70"` in the first line of a cell sets the numbers of
rows and columns of A. A tile has 16 rows and columns, so try sizes that are no multiple of 16."""
HEADER = """## What the programs share

The next cell writes `ata.cuh`. It has a view of a matrix, and a main program that fills A with random values and compares C with sums
that the host computes. Run the cell once. You need not read it."""
FAULT = """## A seeded fault

The next cell is the kernel of stage 04 without its second barrier. Which accesses are now in conflict? Run the cell and compare your
answer with the findings. Then put the barrier back."""
CLOSING = """## What is next

The book continues with stage 06, which computes only half of the tiles because C is symmetric."""


def sections_of(page):
    """The sections of a page, by their headings."""
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def sentences_of(paragraph):
    """The sentences of a paragraph."""
    return re.split(r"(?<=[.:!?])\s+(?=[A-Z*`])", paragraph)


def without_sentences_about(words, block):
    """A paragraph or a list without the sentences that contain one of the words."""
    items = []
    for item in re.split(r"\n(?=(?:\d+\.|-) )", block):
        mark, text = re.match(r"((?:\d+\. |- )?)(.*)", item, re.DOTALL).groups()
        sentences = sentences_of(text)
        kept = [sentence for sentence in sentences if not any(word in sentence for word in words)]
        items.append(item if len(kept) == len(sentences) else mark + " ".join(kept))
    return "\n".join(items)


def before_figure(paragraph):
    """A paragraph up to the sentence that refers to the figure after the paragraph."""
    sentences = sentences_of(paragraph)
    first = next((place for place, sentence in enumerate(sentences) if "figure" in sentence), len(sentences))
    return paragraph if first == len(sentences) else " ".join(sentences[:first])


def text_of(section):
    """The Markdown of a section without the parts that only the book shows: diagrams, diffs, code pieces and commands."""
    section = re.sub(r"^( *)```(?:(?!```).)*(?:\./climb|build/stages)(?:(?!```).)*^ *```$", "", section, flags=re.MULTILINE | re.DOTALL)
    parts, blocks = re.split(r"\n\s*\n", section.strip("\n")), []
    for place, block in enumerate(parts):
        if re.search(r"<!-- (?:part|whole|diff|figures|proved|diagram\.[\w.]+|from: .*?) -->|^The whole program: \[", block):
            continue
        if place + 1 < len(parts) and "<!-- diagram." in parts[place + 1]:
            block = before_figure(block)
        block = re.sub(r"<!--.*?-->", "", block, flags=re.DOTALL)
        if not block.lstrip().startswith(("|", "```", "<")):
            block = without_sentences_about(ONLY_IN_BOOK, block)
        block = re.sub(r"\$`(.+?)`\$", r"$\1$", block)
        # The notebook cannot link to pages of the book, so only the words of such a link remain.
        block = re.sub(r"(?<!!)\[((?:[^][`]|`[^`\n]*`)+)\]\((?!https?:)[^)\s]+\)", r"\1", block)
        if block.strip():
            blocks.append(block.rstrip())
    # A sentence that introduced a code piece ends with a full stop instead of a colon.
    return "\n\n".join(re.sub(r":$", ".", block) for block in blocks)


def exercises_of(section):
    """The questions of a page and their answers, without the repository's commands and their explanations."""
    return text_of(section[section.index("\n1. "):])


def part_of(source, name):
    """A part of a program, between two comments with its name."""
    found = re.search(rf"^// \[{name}\]\n(.*?)^// \[{name}\]\n", source, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def program_of(stage):
    """A stage as a separate program: its kernel as in the book, and the launch in a main program."""
    source = next((ROOT / "stages" / "ata" / stage).glob("*.cu")).read_text(encoding="utf-8")
    kernel = part_of(source, "multiply")
    constants = re.findall(r"^constexpr .*$", source, re.MULTILINE)
    launch = re.search(r"^ *const unsigned tiles = .*?>>>\(a, c\);$", part_of(source, "solve"), re.MULTILINE | re.DOTALL)
    if not (kernel and constants and launch):
        raise SystemExit(f"{stage}: the kernel 'multiply', its tile or its launch is not where it was")
    load = part_of(source, "load")
    return "\n".join([
        '#include "ata.cuh"', "", *constants, "", *([load] if load else []), kernel,
        "int main(int argc, char** argv) {",
        "  return check_product(argc, argv, [](View<const double, 2> a, View<double, 2> c) {",
        "    const unsigned cols = c.extent(0);",
        textwrap.indent(textwrap.dedent(launch[0]), "    "),
        "  });", "}"])


def without_last_barrier(program):
    """The program with its last barrier replaced by a comment."""
    before, barrier, after = program.rpartition("__syncthreads();")
    if not barrier:
        raise SystemExit("the kernel of stage 04 has no barrier")
    return f"{before}// {barrier}{after}"


def markdown(name, text):
    """A cell of text."""
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


def code(name, text, tags=()):
    """A cell that runs."""
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": {"tags": list(tags)} if tags else {}, "outputs": [],
            "source": text.splitlines(keepends=True)}


def cells():
    """The cells of the notebook, in order."""
    yield markdown("opening", OPENING)
    yield code("load", "%load_ext cuda_on_cpu")
    yield markdown("header-text", HEADER)
    yield code("header", "%%cuda --name ata.cuh\n" + (HERE / "ata.cuh").read_text(encoding="utf-8").rstrip())
    for stage in STAGES:
        number = stage.partition("_")[0]
        page = (ROOT / "stages" / "ata" / stage / "README.md").read_text(encoding="utf-8")
        sections = sections_of(page)
        title = re.search(r"^# (.+)$", page, re.MULTILINE)[1]
        parts = [f"### {name}\n\n{text_of(sections[name])}" for name in SECTIONS if text_of(sections[name])]
        yield markdown(f"stage-{number}-text", f"## {title}\n\n" + "\n\n".join(parts))
        yield code(f"stage-{number}", "%%cuda --analyze\n" + program_of(stage))
        yield markdown(f"stage-{number}-exercises", f"### Try it\n\n{exercises_of(sections['Try it'])}")
        if stage == "04_tiled":
            yield markdown("fault-text", FAULT)
            yield code("fault", "%%cuda --analyze\n" + without_last_barrier(program_of(stage)), ["raises-exception"])
    yield markdown("closing", CLOSING)


def notebook():
    """The notebook in the format nbformat 4.5."""
    return {"cells": list(cells()),
            "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}},
            "nbformat": 4, "nbformat_minor": 5}


def main():
    """Writes the notebook."""
    if len(sys.argv) != 2:
        sys.exit("usage: make_notebook.py OUT.ipynb")
    pathlib.Path(sys.argv[1]).write_text(json.dumps(notebook(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
