"""The cell magics %%cuda and %%slice."""

import json
import os
import pathlib
import shlex
import shutil
import signal
import sys
import tempfile

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import display

from . import pages, programs, runs

TIME_LIMIT = 60.0  # seconds, unless the cell sets another limit
HEADERS = (".cuh", ".hpp", ".h")
# These options are refused, because the cell's program is always compiled, run and removed.
REFUSED = ("-o", "-c", "-dc", "-dlink", "-lib", "--lib", "-E", "-M", "-MM", "-cuda", "-ptx", "-cubin", "-fatbin", "--help", "-h", "--version")


class CellFailed(Exception):
    """Ends a cell with one sentence instead of a traceback."""

    def _render_traceback_(self):
        return [str(self)]


class Options:
    """The words after %%cuda."""

    def __init__(self, line):
        self.analyze, self.arguments, self.time_limit, self.name, self.compile = False, [], TIME_LIMIT, "", []
        try:
            words = iter(shlex.split(line))
        except ValueError as error:
            raise UsageError(f"%%cuda: the line cannot be read: {error}") from None
        for word in words:
            option, equals, value = word.partition("=")
            if option in ("--analyze", "-analyze"):
                self.analyze = True
            elif option in ("--args", "--time-limit", "--name"):
                self.set(option, value if equals else next(words, None))
            elif word in REFUSED:
                raise UsageError(f"%%cuda runs the program of the cell, so {word} has no meaning here")
            else:
                self.compile.append(word)

    def set(self, option, value):
        """Sets an option that has a value."""
        if value is None:
            raise UsageError(f"%%cuda: {option} lacks its value")
        if option == "--args":
            self.arguments += shlex.split(value)
        elif option == "--name":
            self.name = value
        else:
            try:
                self.time_limit = float(value)
            except ValueError:
                self.time_limit = 0.0
            if not 0 < self.time_limit < float("inf"):
                raise UsageError(f"%%cuda: --time-limit is a number of seconds above 0, not '{value}'")


def show(name, text):
    """Prints output of a program to the stream of the same name."""
    stream = getattr(sys, name)
    stream.write(text)
    stream.flush()


def find_program(name):
    """The path of a program of the package."""
    try:
        return programs.program(name)
    except programs.Unavailable as why:
        raise CellFailed(str(why)) from None


def with_first_line(magic, line, cell):
    """The cell as a source with the line numbers that the notebook shows; its first line is the magic."""
    return f"// {magic} {line}".replace("\\", "/").rstrip() + f"\n{cell}"


def captured(command, directory):
    """Runs a tool; returns its exit status and its output, without the name of the cell's directory."""
    texts = {"stdout": "", "stderr": ""}

    def keep(name, text):
        texts[name] += text
    status = runs.run(command, keep)
    return status, texts["stdout"], texts["stderr"].replace(f"{directory}/", "")


@magics_class
class Cells(Magics):
    """The cell magics of the package."""

    @cell_magic("cuda")
    def cuda(self, line, cell):
        """Compiles the cell for the CPU and runs it.

        %%cuda [--analyze] [--args "..."] [--time-limit SECONDS] [--name FILE] [options of nvcc]

        --analyze     checks every memory access of the kernels, and shows findings and a table of accesses
        --args        arguments of the program
        --time-limit  the program is ended after this number of seconds (60)
        --name        stores the source in FILE; a header (.cuh, .hpp, .h) is only stored, so that other cells can include it
        All other options are passed to cuda-on-cpu, such as -O3, -std=c++20, -DN=1024 or -lcublas.
        """
        options = Options(line)
        text = with_first_line("%%cuda", line, cell)
        with tempfile.TemporaryDirectory(prefix="cuda-cell-") as directory:
            source = pathlib.Path(directory, "cell.cu")
            if options.name:
                source = pathlib.Path(options.name).absolute()
            try:
                source.write_text(text)
            except OSError as error:
                raise CellFailed(f"%%cuda: {error.strerror}: '{source}'") from None
            if source.suffix in HEADERS:
                return
            program = pathlib.Path(directory, "program")
            self.compile(options, source, program, directory)
            self.run(options, pages.Sources(source, text, source.name), program, pathlib.Path(directory, "report.json"))

    @staticmethod
    def compile(options, source, program, directory):
        """Compiles the program of a cell."""
        command = [find_program("cuda-on-cpu"), f"-iquote{os.getcwd()}", *(["--analyze"] if options.analyze else []),
                   *options.compile, source, "-o", program]
        status, said, complaint = captured(command, directory)
        lines = complaint.splitlines()
        if status != 0 and len(lines) == 1 and lines[0].startswith("cuda-on-cpu: "):
            raise CellFailed(lines[0])
        show("stdout", said)
        show("stderr", complaint)
        if status != 0:
            raise CellFailed("The cell does not compile.")

    @staticmethod
    def run(options, sources, program, report_file):
        """Runs the program of a cell and shows the findings of its analysis."""
        environment = dict(os.environ)
        if options.analyze:
            environment |= {"CUDA_ON_CPU_REPORT": str(report_file), "CUDA_ON_CPU_QUIET": "1"}
        # Lines are shown as soon as they are printed, and output is not lost if the program is ended.
        by_lines = [path, "-oL"] if (path := shutil.which("stdbuf")) else []
        try:
            status = runs.run([*by_lines, program, *options.arguments], show, environment, options.time_limit)
        except runs.Ended as why:
            raise CellFailed(f"%%cuda: {why}") from None
        report = None
        if options.analyze and report_file.exists():
            try:
                report = json.loads(report_file.read_text())
            except json.JSONDecodeError:
                pass
        if report is not None:
            display(pages.Report(report, sources))
        if status < 0:
            raise CellFailed(f"The program was ended by {signal.Signals(-status).name}.")
        if report is not None and report["errors"]:
            raise CellFailed(f"The analysis found {pages.counted(len(report['errors']), 'error')}.")
        if status != 0:
            raise CellFailed(f"The program ended with status {status}.")

    @cell_magic("slice")
    def slice(self, line, cell):
        """Reports for each loop of the cell whether its iterations are independent, and why not.

        %%slice [--reductions] [options of the compiler, such as -I and -D]

        The cell is C++ that compiles; it is not run.
        """
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"%%slice: the line cannot be read: {error}") from None
        reductions = [word for word in words if word == "--reductions"]
        others = [word for word in words if word != "--reductions"]
        text = with_first_line("%%slice", line, cell)
        with tempfile.TemporaryDirectory(prefix="slice-cell-") as directory:
            source = pathlib.Path(directory, "cell.cu" if "__global__" in cell else "cell.cpp")
            source.write_text(text)
            command = [find_program("slice"), "--check", source, "--json", "-", *reductions]
            status, said, complaint = captured([*command, "--", f"-I{os.getcwd()}", *others], directory)
            if not said.startswith("["):
                raise CellFailed(complaint.strip() or f"slice ended with status {status}")
            display(pages.Loops(json.loads(said), pages.Sources(source, text, source.name)))
