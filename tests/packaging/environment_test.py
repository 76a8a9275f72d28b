"""Tests an environment in which the package is installed: environment_test.py PROGRAMS NOTEBOOK [--without-slice].
Prints TAP.

PROGRAMS is the directory of the environment's commands, and NOTEBOOK the notebook of the first course. The Python that runs
this test has nbclient, nbformat and ipykernel, and imports the package from the environment that is checked.
"""

import asyncio
import pathlib
import subprocess
import sys
import tempfile
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

PROGRAMS, NOTEBOOK = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()
WITHOUT_SLICE = "--without-slice" in sys.argv
RACE = """__global__ void shift(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[63 - threadIdx.x];  // <b>&amp;
}
int main() {
  int* x;
  if (cudaMallocManaged(&x, 64 * sizeof(int)) != cudaSuccess) return 2;
  for (int i = 0; i < 64; ++i) x[i] = i;
  shift<<<1, 64>>>(x);
  return cudaDeviceSynchronize();
}
"""
ENDLESS = """#include <unistd.h>
#include <fstream>
int main() {
  std::ofstream("pid") << getpid() << std::endl;
  while (true) usleep(1000);
}
"""
LOOPS = """void scale(double* x, int n) {
  for (int i = 0; i < n; ++i) x[i] *= 2;
  for (int i = 1; i < n; ++i) x[i] += x[i - 1];
}
"""


def run(*command, **how):
    """Runs a command; returns its output and its status."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **how)


def broken_commands():
    """Yields errors in the commands of the environment."""
    with tempfile.TemporaryDirectory() as directory:
        source, program = pathlib.Path(directory, "race.cu"), pathlib.Path(directory, "race")
        source.write_text(RACE)
        for flag in ([], ["--analyze"]):
            made = run(PROGRAMS / "cuda-on-cpu", *flag, source, "-o", program, cwd=directory)
            if made.returncode != 0 or made.stderr:
                yield f"cuda-on-cpu {flag} ends with status {made.returncode}: {made.stderr}"
                continue
            done = run(program)
            if flag and (done.returncode != 1 or "race.cu:3: error: race" not in done.stderr):
                yield f"the analysis does not report the race at its line: {done.stderr}"
            if not flag and done.returncode != 0:
                yield f"the program ends with status {done.returncode}: {done.stderr}"
        alone = run(PROGRAMS / "cuda-on-cpu", source, env={"PATH": "/nowhere"}, cwd=directory)
        if alone.returncode == 0 or "no C++ compiler" not in alone.stderr or alone.stderr.count("\n") != 1:
            yield f"without a compiler, cuda-on-cpu ends with status {alone.returncode} and prints: {alone.stderr}"
        other = run(PROGRAMS / "cuda-on-cpu", "-ccbin", "/bin/true", source, cwd=directory)
        if other.returncode == 0 or other.stderr.count("\n") != 1:
            yield f"with -ccbin /bin/true, cuda-on-cpu ends with status {other.returncode} and prints: {other.stderr}"
        loops = pathlib.Path(directory, "loops.cpp")
        loops.write_text(LOOPS)
        shown = run(PROGRAMS / "slice", "--check", loops)
        if WITHOUT_SLICE:
            if shown.returncode == 0 or shown.stderr.count("\n") != 1:
                yield f"slice lacks its libraries, ends with status {shown.returncode} and prints: {shown.stderr}"
        elif "independent" not in shown.stdout or "dependent: i = 2 reads x[1]" not in shown.stdout:
            yield f"slice --check ends with status {shown.returncode} and prints: {shown.stdout}{shown.stderr}"


def kernel_loop(answer):
    """The result of a call of jupyter_client, whose methods may be coroutines."""
    return asyncio.get_event_loop().run_until_complete(answer) if hasattr(answer, "__await__") else answer


class Kernel:
    """A notebook whose cells are executed one by one."""

    def __init__(self, directory):
        self.client = NotebookClient(nbformat.v4.new_notebook(), timeout=120, resources={"metadata": {"path": directory}})

    def __enter__(self):
        self.setup = self.client.setup_kernel()
        self.setup.__enter__()
        return self

    def __exit__(self, *error):
        self.setup.__exit__(*error)

    def run(self, text):
        """Runs a cell; returns the printed output, the HTML, the text and the error, each as one text."""
        cell = nbformat.v4.new_code_cell(text)
        self.client.nb.cells.append(cell)
        try:
            self.client.execute_cell(cell, len(self.client.nb.cells) - 1)
        except CellExecutionError:
            pass
        shown = {"stdout": "", "stderr": "", "html": "", "text": "", "error": ""}
        for output in cell.outputs:
            if output.output_type == "stream":
                shown[output.name] += output.text
            elif output.output_type == "error":
                shown["error"] += "\n".join(output.traceback)
            else:
                shown["html"] += output.data.get("text/html", "")
                shown["text"] += output.data.get("text/plain", "")
        return shown


def wrong_cells():
    """Yields cells whose output differs from the expected output."""
    with tempfile.TemporaryDirectory() as directory, Kernel(directory) as kernel:
        loaded = kernel.run("%load_ext cuda_on_cpu")
        if loaded["error"]:
            yield loaded["error"]
            return
        for line, cell, wanted in (
                ("%%cuda", 'int main() { printf("hello\\n"); }', {"stdout": ["hello"]}),
                ("%%cuda --args '7 \"a b\"'", "int main(int n, char** words) { puts(words[n - 1]); }", {"stdout": ["a b"]}),
                ("%%cuda", "int main() {\n  nonsense();\n}", {"stderr": ["cell.cu:3:3: error: ", "nonsense();"], "error": ["does not compile"]}),
                ("%%cuda", "int main() { return 3; }", {"error": ["status 3"]}),
                ("%%cuda --time-limit 1", '#include <unistd.h>\nint main() {\n  puts("begun");\n  while (true) usleep(1000);\n}',
                 {"error": ["after 1 s"], "stdout": ["begun"]}),
                ("%%cuda -DN=5 -std=c++20", "int main() { static_assert(N == 5 && __cplusplus > 201703); }", {}),
                ("%%cuda --time-limit soon", "int main() {}", {"stderr": ["--time-limit"]}),
                ("%%cuda -o x", "int main() {}", {"stderr": ["no meaning"]}),
                ("%%cuda --name shared.cuh", "#pragma once\nconstexpr int shared = 4;", {}),
                ("%%cuda", '#include "shared.cuh"\nint main() { return shared - 4; }', {}),
                ("%%cuda --analyze", RACE, {"html": ["error: race</b>, line 4<br>", "<mark>▶   4", "&lt;b&gt;&amp;amp;", "<table>"],
                                            "text": ["error: race, line 4", ">    4", "shared store"], "error": ["The analysis found"]}),
                ("%%cuda --analyze", RACE.replace("  x[threadIdx.x] =", "  __syncthreads();\n  x[threadIdx.x] ="),
                 {"html": ["No error was found."]})):
            shown = kernel.run(f"{line}\n{cell}")
            for stream, texts in wanted.items():
                yield from (f"the {stream} of the cell {line} lacks '{text}': {shown}"
                            for text in texts if text not in shown[stream])
            if "error" not in wanted and shown["error"]:
                yield f"the cell {line} raises an error: {shown['error']}"
            if "Traceback" in shown["error"]:
                yield f"the cell {line} shows a traceback: {shown['error']}"
            if "<b>&" in shown["html"]:
                yield f"the HTML of the cell {line} contains unescaped source"
        shown = kernel.run(f"%%slice\n{LOOPS}")
        if WITHOUT_SLICE:
            if "slice" not in shown["error"]:
                yield f"%%slice lacks its libraries and shows: {shown}"
        elif "<td>independent</td>" not in shown["html"] or "dependent: i = 2 reads x[1]" not in shown["text"]:
            yield f"%%slice does not show its verdicts: {shown}"
        shown = kernel.run("import os\nos.environ['PATH'] = '/nowhere'\n"
                           "get_ipython().run_cell_magic('cuda', '', 'int main() {}')")
        if "no C++ compiler" not in shown["error"]:
            yield f"without a compiler, a cell shows: {shown}"


def survivors_of_interrupt():
    """Yields programs of cells that continue after the kernel was interrupted."""
    with tempfile.TemporaryDirectory() as directory, Kernel(directory) as kernel:
        kernel.run("%load_ext cuda_on_cpu")
        client, manager = kernel.client.kc, kernel.client.km
        kernel_loop(client.execute(f"%%cuda\n{ENDLESS}"))
        pid, file = 0, pathlib.Path(directory, "pid")
        for _ in range(600):
            if file.exists() and file.read_text().endswith("\n"):
                pid = int(file.read_text())
                break
            time.sleep(0.1)
        if not pid:
            yield "the program of the cell does not start"
            return
        kernel_loop(manager.interrupt_kernel())
        for _ in range(100):
            if not pathlib.Path(f"/proc/{pid}").exists():
                break
            time.sleep(0.1)
        else:
            yield "the program still runs 10 s after the interrupt"
        answer = kernel_loop(client.get_shell_msg(timeout=60))
        if answer["content"].get("ename") != "KeyboardInterrupt":
            yield f"the kernel answers {answer['content']}"


def wrong_notebook():
    """Yields errors in the notebook of the first course."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield from (f"the text of cell {cell.id} contains '{words}', which works only in the book"
                        for words in ("<!--", "](..", "./climb")
                        if words in cell.source)
    with tempfile.TemporaryDirectory() as directory:
        try:
            NotebookClient(notebook, timeout=300, resources={"metadata": {"path": directory}}).execute()
        except CellExecutionError as error:
            yield str(error)
            return
    outputs = {cell.id: "".join(str(output) for output in cell.outputs) for cell in notebook.cells if cell.cell_type == "code"}
    for number in ("03", "04", "05"):
        for text in ("C = AᵀA is right", "No error was found.", "global load"):
            if text not in outputs[f"stage-{number}"]:
                yield f"the output of the cell for stage {number} lacks '{text}': {outputs[f'stage-{number}']}"
    if "race" not in outputs["fault"] or "The analysis found" not in outputs["fault"]:
        yield f"the analysis does not find the seeded fault: {outputs['fault']}"


def main():
    """Prints one TAP line per check."""
    checks = (("cuda-on-cpu and slice work, and report a missing compiler or library in one sentence", broken_commands),
              ("notebook cells show output, compiler errors, and findings with their lines", wrong_cells),
              ("an interrupt of the kernel ends the program of a cell", survivors_of_interrupt),
              ("the notebook of the first course runs, and its analysis finds the seeded fault", wrong_notebook))
    print(f"1..{len(checks)}")
    failed = False
    for number, (title, check) in enumerate(checks, 1):
        began = time.monotonic()
        problems = list(check())
        failed |= bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - {title} ({time.monotonic() - began:.0f} s)", flush=True)
        for problem in problems:
            print("\n".join(f"# {line}" for line in problem.splitlines()), flush=True)
    sys.exit(failed)


main()
