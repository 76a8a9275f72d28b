"""Tests that the README of the slicer shows real output, existing options, and a workflow that works. Prints TAP.

Usage: readme_test.py ROOT SLICE
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

import tap

ROOT, SLICE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
README = (ROOT / "common/slicer/README.md").read_text()
WORKFLOW = (ROOT / "common/slicer/workflow.yml").read_text()
PROVED = '#include "size.hpp"\nvoid f(double* x) {\n#pragma omp parallel for\n  for (int i = 0; i < size(); ++i) x[i] = OF_BUILD;\n}\n'
REFUTED = "void f(double* x, int n) {\n#pragma omp parallel for\n  for (int i = 1; i < n; ++i) x[i] = x[i - 1];\n}\n"


def wrong_example():
    """Yields the output for the example of the README if it differs from the report in the README."""
    source = re.search(r"```cpp\n(.*?)```\n", README, re.DOTALL)[1]
    name, report = re.search(r"`slice --check (\S+)` prints this report:\n\n```\n(.*?)```\n", README, re.DOTALL).groups()
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, name).write_text(source)
        result = subprocess.run([SLICE, "--check", name], cwd=directory, capture_output=True, text=True, check=False)
    if result.stdout != report or result.returncode != 1:
        yield f"the tool ends with status {result.returncode} and prints\n{result.stdout}{result.stderr}"


def unknown_options():
    """Yields options in the commands of the README that the tool does not have."""
    known = subprocess.run([SLICE, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"`(slice [^`]+)`", README)
    if len(commands) < 6:
        yield f"the README has only {len(commands)} commands"
    for command in commands:
        for option in re.findall(r" (--?[a-z]+)", command.partition(" -- ")[0]):
            if not re.search(rf"^ +(?:-\w,)?{option}\b", known, re.MULTILINE):
                yield f"{command}: the tool has no option {option}"


def script_of(step):
    """The commands of a step of the workflow."""
    lines = re.search(rf"- name: {step}\n +run: \|\n((?: {{10}}.*\n)+)", WORKFLOW)[1]
    return textwrap.dedent(lines)


class Project:
    """A user's repository with the given sources, and a build directory with the list of compile commands."""

    def __init__(self, directory, sources):
        self.directory = pathlib.Path(directory)
        (self.directory / "include").mkdir()
        (self.directory / "include" / "size.hpp").write_text("inline int size() { return 8; }\n")
        for name, text in sources.items():
            (self.directory / name).write_text(text)
        (self.directory / "build").mkdir()
        (self.directory / "build" / "compile_commands.json").write_text(json.dumps([
            {"directory": str(self.directory), "file": name, "command": f"c++ -Iinclude -DOF_BUILD=1 -c {name}"} for name in sources]))
        subprocess.run(["git", "init", "--quiet"], cwd=directory, check=True)
        subprocess.run(["git", "add", *sources], cwd=directory, check=True)

    def check(self):
        """Runs the last step of the workflow as a code host does, and returns its result."""
        path = f"{SLICE.parent}:{os.environ['PATH']}"
        return subprocess.run(["bash", "-e", "-c", script_of("Check the pragmas of OpenMP")], cwd=self.directory,
                              env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False)


def wrong_workflow():
    """Yields projects for which the workflow succeeds or fails wrongly, or does not report on every file."""
    plain = "int f(int x) { return x; }\n"
    lacking = PROVED.replace("size.hpp", "nowhere.hpp")
    for sources, status, reported in (
            ({"a.cpp": PROVED, "plain.cpp": plain}, 0, ["a.cpp", "proved"]),
            ({"a.cpp": REFUTED, "b.cpp": PROVED}, 1, ["a.cpp", "refuted", "b.cpp", "proved"]),
            ({"a.cpp": lacking, "b.cpp": PROVED}, 1, ["nowhere.hpp", "b.cpp", "proved"]),
            ({"plain.cpp": plain}, 0, [])):
        with tempfile.TemporaryDirectory() as directory:
            result = Project(directory, sources).check()
        output = result.stdout + result.stderr
        missing = [word for word in reported if word not in output]
        if result.returncode != status or missing or "plain.cpp" in output:
            yield f"{list(sources)}: the exit status is {result.returncode}, and the output lacks {missing}: {output}"


tap.report((("the example of the README leads to the report in the README", wrong_example()),
            ("the tool has every option that the README uses", unknown_options()),
            ("the workflow fails only for refuted pragmas and unreadable files", wrong_workflow())))
