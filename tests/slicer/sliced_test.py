"""Tests that `slice FILE -o OUT` preserves the results of random nests and of stages, and refuses nests that cannot be
sliced.

Usage: sliced_test.py ROOT SLICE COMPILER [--nests COUNT [SEED]]. Prints TAP. With --nests, only random nests are
tested, and COUNT is their number.
"""

import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy
import sliced_nests
import tap

ROOT, SLICE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
COMPILER = sys.argv[3].split()
NESTS, SEED = [int(word) for word in (*sys.argv[5:], "20")[:2]] if sys.argv[4:5] == ["--nests"] else (10, 20)
NESTS_PER_PROGRAM = 100  # the number of nests in a program
BUILD = SLICE.parents[2]
HEADERS = [f"-I{ROOT}/common/include", f"-I{ROOT}/common"]
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Werror"]
LIBRARIES = [BUILD / "common/harness/libstaircase.so", BUILD / "common/harness/libprocessor.a",
             BUILD / "common/harness/libno_ranks.a", "-lfmt", "-fopenmp",
             f"-Wl,-rpath,{BUILD}/common/harness"]
DEVICE = BUILD / "common/cuda_on_cpu/libcuda_on_cpu.a"
NEST = """#include <vector>
int call(int);
void f(std::vector<double>& x, std::vector<double>& y, const std::vector<int>& p, int n, int m) {{
{}
}}
"""


def run(*arguments, cwd=ROOT):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, cwd=cwd)


def sliced(place, source, form):
    """The slicer's output for a file of nests, its error message, and the number of nests that are too complicated for
    it; the pragmas of these nests are removed."""
    lines, out = (place / source).read_text().splitlines(), f"form{form}.cpp"
    for left_out in range(len(lines)):
        result = run(SLICE, source, "-o", out, "--form", form, "--", *HEADERS, cwd=place)
        complicated = re.search(r"line (\d+): .* are too complicated$", result.stderr)
        if not complicated:
            return (place / out).read_text() if result.returncode == 0 else "", result.stderr, left_out
        mark = max(n for n in range(int(complicated[1])) if lines[n].startswith("#pragma"))
        lines[mark] = ""
        (place / source).write_text("\n".join(lines))


def same_results(seed, count):
    """Yields an error if the results of random nests differ in one of the two forms, for some numbers of slices."""
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        text = sliced_nests.file_of(random.Random(seed), count)
        (place / "nests.cpp").write_text(text)
        (place / "in_place.cpp").write_text(text.replace(" buffers(2)", "").replace(" threads(2)", ""))
        for form, source in ((3, "in_place.cpp"), (4, "nests.cpp")):
            made, complaint, left_out = sliced(place, source, form)
            if complaint or left_out > count // 50:
                yield f"seed {seed}, form {form}: {left_out} nests are too complicated, or the slicer fails: {complaint}"
                return
            for line in made.splitlines():
                if len(line) > 100 and line not in text:
                    yield f"seed {seed}, form {form}: a generated line has {len(line)} columns: {line}"
        (place / "all.cpp").write_text(sliced_nests.HEADERS + sliced_nests.program(text))
        result = run(*COMPILER, *STRICT, "-Wno-unused-parameter", "-Wno-unknown-pragmas", *HEADERS, "all.cpp", "-o", "all", cwd=place)
        if result.returncode:
            yield f"seed {seed}: the generated code does not compile: {result.stderr}"
            return
        result = run(place / "all")
        if result.returncode:
            yield f"seed {seed}: the results differ: {result.stdout}{result.stderr}"


def compiled_for_device(source, program, *arguments):
    """The compiler's message if a CUDA source cannot be compiled for the CPU device; empty otherwise."""
    flags = ["-D__CUDACC__", "-DSTAIRCASE_CUDA_ON_CPU", f"-I{ROOT}/common/cuda_on_cpu/include", f"-I{source.parent}", *HEADERS]
    plain = source.with_suffix(".plain.cpp")
    result = run(DEVICE.with_name("rewrite_cuda"), source, plain, source.with_suffix(".d"), *COMPILER, "-std=c++20", *flags,
                 *[argument for argument in arguments if str(argument).startswith("-I")])
    if result.returncode == 0:
        result = run(*COMPILER, *STRICT, "-O1", "-Wno-deprecated", "-Wno-unknown-pragmas", "-Wno-unused-parameter",
                     "-fno-delete-null-pointer-checks", *flags, plain, "-o", program, *arguments, DEVICE, "-pthread")
    return result.stderr if result.returncode else ""


def on_device():
    """Yields errors of nests whose slices run on the CPU device, with one and with two streams, and of the matrix
    product."""
    if not DEVICE.exists():  # builds with sanitizers have no CPU device
        return
    count = 6
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        text = sliced_nests.file_of(random.Random(30), count, lambda nest: "std::min" not in nest)
        text = text.replace(" threads(2)", "")
        (place / "nests.cpp").write_text(text)
        (place / "in_place.cpp").write_text(text.replace(" buffers(2)", ""))
        text = re.sub(r"(#pragma staircase slice\([^)]*\))", r"\1 device(cuda)", text)
        (place / "device.cpp").write_text(text)
        for source, out, *form in (("in_place.cpp", "form3.cpp", "--form", "3"), ("device.cpp", "form4.cu")):
            result = run(SLICE, source, "-o", out, *form, "--", *HEADERS, cwd=place)
            if result.returncode:
                yield f"{result.stderr}{text}"
                return
        made = (place / "form4.cu").read_text()
        if made.count("<<<") != count or "std::array<sliced::Stream, 2>" not in made:
            yield f"the generated code has {made.count('<<<')} launches for {count} nests, or not two streams"
        headers = "#include <cuda_runtime.h>\n#include <stdexcept>\n"
        (place / "all.cu").write_text(headers + sliced_nests.HEADERS + sliced_nests.program(text).replace("form4.cpp", "form4.cu"))
        why = compiled_for_device(place / "all.cu", place / "all")
        result = None if why else run(place / "all")
        if why or result.returncode:
            yield why or f"the program ends with status {result.returncode}: {result.stdout}{result.stderr}"
        yield from product_on_device(place)


def product_on_device(place):
    stage, loop = "matmul/00_original/original.cpp", "for (std::size_t i = 0; i < rows"
    for clauses in ("device(cuda)", "device(cuda) buffers(2)"):
        source, out = place / "matmul/99_generated/original.cpp", place / "matmul/99_generated/generated.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(marked(stage, loop, f"#pragma staircase slice(i: 3, j: 5) {clauses}"))
        around = [*HEADERS, f"-I{ROOT}/stages/matmul/00_original"]
        result = run(SLICE, source, "-o", out, "--", *around)
        why = result.stderr or compiled_for_device(out, place / "product", *around, BUILD / "stages/libmatmul.a", *LIBRARIES)
        sizes = ["--set", "l=37", "--set", "m=29", "--set", "n=41"]
        why = why or difference(place / "product", "matmul-01_sliced", sizes, 0)
        if why:
            yield f"{stage} with {clauses}: {why}"


def random_nests():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as together:
        for complaints in together.map(lambda first: list(same_results(SEED + first // NESTS_PER_PROGRAM,
                                                                       min(NESTS_PER_PROGRAM, NESTS - first))),
                                       range(0, NESTS, NESTS_PER_PROGRAM)):
            yield from complaints


FORMS = """#include <cstdio>
#include <random>
namespace original {
#include "forms.cpp"
}
namespace in_buffers {
#include "form4.cpp"
}
namespace in_place {
#include "form3.cpp"
}
template <typename Call>
void compare(const char* what, std::vector<double> x, const Call& call) {
  std::vector<double> first = x, second = x, third = x;
  call(0, first), call(1, second), call(2, third);
  if (first != second || first != third) std::printf("%s of %zu differs\\n", what, x.size());
}
#define CALL(function, ...)                 \\
  (which == 0   ? original::function(__VA_ARGS__)   \\
   : which == 1 ? in_buffers::function(__VA_ARGS__) \\
                : in_place::function(__VA_ARGS__))
int main() {
  std::mt19937 random(5);
  const auto numbers = [&](std::size_t count) {
    std::vector<double> all(count);
    for (double& each : all) each = std::uniform_real_distribution(-1.0, 1.0)(random);
    return all;
  };
  for (const int n : {0, 1, 2, 3, 5, 7, 12, 13}) {
    const std::size_t size = n;
    const std::vector<double> y = numbers(3 * n + 1), of_diagonals = numbers(40 * 40);
    compare("doubled", numbers(n), [&](int which, auto& x) { CALL(doubled, std::span(x)); });
    compare("clamped", numbers(n), [&](int which, auto& x) { CALL(clamped, x, y, n); });
    compare("turned", numbers(n), [&](int which, auto& x) { CALL(turned, y, x); });
    compare("twice", numbers(n + 1), [&](int which, auto& x) { x[n] = CALL(twice, x, n); });
    for (const int slices : {-1, 0, 1, 2, 4, 20})
      compare("triangle", numbers(n * n), [&](int which, auto& x) {
        CALL(triangle, staircase::View<double, 2>(x.data(), {size, size}), n, slices);
      });
    for (const long m : {0, 1, 5, 8})
      compare("diagonals", numbers(16 * 16), [&](int which, auto& x) {
        CALL(diagonals, staircase::View<double, 2>(x.data(), {16, 16}),
             staircase::View<const double, 2>(of_diagonals.data(), {40, 40}), n, m);
      });
    compare("guarded", numbers(2 * n), [&](int which, auto& x) { CALL(guarded, x.data(), y.data(), n); });
    compare("own", numbers(4 * n), [&](int which, auto& x) { CALL(own, x.data(), n); });
    for (const unsigned m : {1, 2, 3})
      compare("lines", numbers(n * m), [&](int which, auto& x) { CALL(lines, x.data(), y.data(), n, m); });
    for (const long first : {-7, 0, 4})
      compare("shifted", numbers(n), [&](int which, auto& x) { CALL(shifted, x, first, first + n); });
  }
}
"""


def many_forms():
    """Yields loops and arrays in various notations whose generated code is not valid, or gives other results."""
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        text = (ROOT / "tests/slicer/forms.cpp").read_text()
        (place / "forms.cpp").write_text(text)
        (place / "plain.cpp").write_text(re.sub(r" (buffers|threads)\(2\)", "", text))
        for source, out, *form in (("forms.cpp", "form4.cpp"), ("plain.cpp", "form3.cpp", "--form", "3"),
                                   ("forms.cpp", "template.cpp", "--template")):
            result = run(SLICE, source, "-o", out, *form, "--", *HEADERS, cwd=place)
            if result.returncode:
                yield result.stderr
                return
        # The headers have to precede the namespaces.
        headers = {line for name in ("form4.cpp", "form3.cpp") for line in (place / name).read_text().splitlines()
                   if line.startswith("#include <")}
        (place / "all.cpp").write_text("\n".join([*sorted(headers), FORMS]))
        for what in (["-fsyntax-only", "-Wno-unused-function", "template.cpp"], ["all.cpp", "-o", "all", "-pthread"]):
            result = run(*COMPILER, *STRICT, "-Wno-unknown-pragmas", "-Wno-unused-parameter", *HEADERS, *what, cwd=place)
            if result.returncode:
                yield result.stderr
                return
        result = run(place / "all")
        if result.returncode or result.stdout:
            yield f"the program ends with status {result.returncode}: {result.stdout}{result.stderr}"


def marked(stage, loop, pragma):
    """A stage's source with a pragma before a loop."""
    text = (ROOT / "stages" / stage).read_text()
    at = text.rindex("\n", 0, text.index(loop)) + 1
    return text[:at] + pragma + "\n" + text[at:]


def sliced_stage(place, stage, loop, pragma, *options):
    """The program generated from a stage, and the reason if there is none."""
    workload, _, name = stage.split("/")
    directory = place / workload / "99_generated"
    directory.mkdir(parents=True, exist_ok=True)
    source, out, program = directory / name, directory / "generated.cpp", directory / "program"
    source.write_text(marked(stage, loop, pragma))
    around = [*HEADERS, f"-I{(ROOT / 'stages' / stage).parent}"]
    result = run(SLICE, source, "-o", out, *options, "--", *around)
    if result.returncode == 0:
        result = run(*COMPILER, *STRICT, "-O1", *around, out, "-o", program, BUILD / f"stages/lib{workload}.a", *LIBRARIES)
    return program, result.stderr


def difference(generated, manual, sizes, tolerance):
    """The reason why two programs differ: in any bit, or by more than a tolerance relative to the largest element;
    empty if they do not."""
    with tempfile.TemporaryDirectory() as directory:
        solutions = []
        for each in (generated, BUILD / "stages" / manual):
            out = pathlib.Path(directory, f"{len(solutions)}.npy")
            result = run(each, *sizes, "--output", out)
            if result.returncode:
                return f"{each}: {result.stderr}"
            solutions.append(numpy.load(out))
        ours, theirs = solutions
        if tolerance:
            is_same = numpy.all(numpy.abs(ours - theirs) <= tolerance * numpy.max(numpy.abs(theirs)))
        else:
            is_same = ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()
        return "" if is_same else f"the result differs from the result of {manual}"


def stages():
    """Yields programs generated from stages whose results differ from those of the manually written stages.

    The results must agree in all bits, except for n-body: its manually written stages compute roots differently and
    add up the source bodies slice by slice. Therefore, an error of 2000 roundings is allowed there; real errors are larger.
    """
    product = ("matmul/00_original/original.cpp", "for (std::size_t i = 0; i < rows")
    solve = ("triangular_solve/01_columns/columns.cpp", "for (std::size_t j = i + 1")
    bodies = ("nbody/00_original/original.cpp", "for (std::size_t i = 0; i < bodies.extent(0)")
    of_64 = "slice(i: (bodies.extent(0) + 63) / 64)"
    shape = {"matmul": ["--set", "l=37", "--set", "m=29", "--set", "n=41"], "triangular_solve": ["--set", "n=67"],
             "nbody": ["--set", "bodies=197", "--set", "steps=4"]}
    for (stage, loop), pragma, options, manual in (
            (product, "slice(i: 3, j: 5)", ["--form", "3"], "matmul-01_sliced"),
            (product, "slice(i: 3, j: 50) buffers(2) threads(2)", [], "matmul-02_serialised"),
            (solve, "slice(j: 4)", ["--form", "3"], "triangular_solve-01_columns"),
            (solve, "slice(j: 4)", [], "triangular_solve-01_columns"),
            (bodies, of_64, ["--form", "3"], "nbody-03_sliced"), (bodies, of_64, [], "nbody-03_sliced")):
        workload = stage.split("/")[0]
        with tempfile.TemporaryDirectory() as directory:
            program, why = sliced_stage(pathlib.Path(directory), stage, loop, "#pragma staircase " + pragma, *options)
            why = why or difference(program, manual, shape[workload], 2000 * 2**-53 if workload == "nbody" else 0)
            if why:
                yield f"{stage} with {pragma}: {why}"


def nest_at(text, loop):
    """The lines of a nest from its outermost loop on, without its indentation."""
    lines = text[text.rindex("\n", 0, text.index(loop)) + 1:].splitlines()
    columns = len(lines[0]) - len(lines[0].lstrip())
    end = next((n for n, line in enumerate(lines) if n and len(line) - len(line.lstrip()) < columns), len(lines))
    return "\n".join(line[columns:] for line in lines[:end])


def text_of_product():
    """Yields differences between the nest generated from the product's first stage and the second stage, up to the
    names of bounds."""
    names = {"i_begin": "s.i0", "i_end": "s.i0 + s.rows", "j_begin": "s.j0", "j_end": "s.j0 + s.cols"}
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        stage, loop = "matmul/00_original/original.cpp", "for (std::size_t i = 0; i < rows"
        program, why = sliced_stage(place, stage, loop, "#pragma staircase slice(i: 3, j: 5)", "--form", "3")
        if why:
            yield why
            return
        made = nest_at((program.parent / "generated.cpp").read_text(), "for (std::size_t i = i_begin")
    for name, manual in names.items():
        made = re.sub(rf"\b{name}\b", manual, made)
    manual = nest_at((ROOT / "stages/matmul/01_sliced/sliced.cpp").read_text(), "for (std::size_t i = s.i0")
    if made != manual or manual.count("\n") != 5:
        yield f"the generated nest is\n{made}\nand the manually written nest is\n{manual}"


def refused():
    """Yields nests that cannot be sliced and that are not refused in one sentence, or that leave a file."""
    loop = "  for (int i = 0; i < n; ++i) "
    mark = "#pragma staircase slice(i: 3)"
    first_form = marked("triangular_solve/00_original/original.cpp", "for (std::size_t i = 0; i < n", mark)
    cases = [
        (first_form, "i = 1, j = 0 reads x(0), which i = 0 writes (flow)"),
        (NEST.format(f"{mark}\n{loop}x[0] = i;"), "(output)"),
        (NEST.format(f"{mark}\n{loop}x[0] += y[i];"), "only by + x[0]"),
        (NEST.format(f"{mark}\n{loop}x[i] = call(i);"), "`call(i)`"),
        (NEST.format(f"{mark}\n{loop}x[p[i]] = i;"), "`p[i]`"),
        (NEST.format(f"#pragma staircase slice(i: 2, j: 3)\n{loop}\n    for (int j = 0; j != i; ++j) x[i * n + j] = 1;"),
         "its end `j != i` should be written with <"),
        (NEST.format(f"{mark}\n{loop}y[i] = x[p[i]];"), "beyond affine"),
        (NEST.format(f"{mark}\n  for (int i = n; i-- > 0;) x[i] = 1;"), "counts by -1"),
        (NEST.format(f"{mark}\n  for (int i = 0; i < n; i += 2) x[i] = 1;"), "counts by 2"),
        (NEST.format(f"{mark}\n  for (auto i = 0; i < n; ++i) x[i] = 1;"), "`auto`"),
        (NEST.format(f"{mark}\n  int i = 0;\n  while (i < n) x[i++] = 1;"), "not in front of a loop"),
        (NEST.format(f"{loop}\n{mark}\n    for (int j = 0; j < m; ++j) x[j] = y[j];"), "braces"),
        (NEST.format(f"#pragma omp parallel for\n{mark}\n{loop}x[i] = 1;"), "line 4"),
        (NEST.format(f"#pragma staircase slice(i: 0)\n{loop}x[i] = 1;"), "asks for 0 slices"),
        (NEST.format(f"#pragma staircase slice(i: -2)\n{loop}x[i] = 1;"), "-2"),
        (NEST.format(f"#pragma staircase slice(i: many)\n{loop}x[i] = 1;"), "many"),
        (NEST.format(f"#pragma staircase slice(j: 2)\n{loop}x[i] = 1;"), "names `j`"),
        (NEST.format(f"#pragma staircase slice(i)\n{loop}x[i] = 1;"), "`i`"),
        (NEST.format(f"#pragma staircase slice(i: 2, i: 2)\n{loop}x[i] = 1;"), "twice"),
        (NEST.format(f"#pragma staircase slice\n{loop}x[i] = 1;"), "names no loop"),
        (NEST.format(f"#pragma staircase slice(j: 2)\n{loop}\n    for (int j = 0; j < m; ++j) x[i * m + j] = 1;"), "leaves out `i`"),
        (NEST.format(f"{mark} buffers(3)\n{loop}x[i] = 1;"), "buffers(3)"),
        (NEST.format(f"{mark} threads(2)\n{loop}x[i] = 1;"), "need buffers(2)"),
        (NEST.format(f"{mark} device(cuda)\n{loop}x[i] = 1;"), "end with .cu"),
        (NEST.format(f"{mark} device(opencl)\n{loop}x[i] = 1;"), "device(opencl)"),
        (NEST.format(f"{mark} device(cuda) buffers(2) threads(2)\n{loop}x[i] = 1;"), "run by themselves"),
        (NEST.format(f"{mark} fast\n{loop}x[i] = 1;"), "`fast`"),
        (NEST.format(f"#pragma staircase slice(i: 3\n{loop}x[i] = 1;"), "lacks a `)`"),
        (NEST.format(f"#pragma staircase tile(i: 3)\n{loop}x[i] = 1;"), "tile"),
        (NEST.format(f"#pragma staircase slcie(i: 3)\n{loop}x[i] = 1;"), "slcie"),
        (NEST.format(f"{loop}x[i] = 1;"), "no loop is marked"),
    ]
    for text, fragment in cases:
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            (place / "in.cpp").write_text(text)
            around = [*HEADERS, f"-I{ROOT}/stages/triangular_solve/00_original"]
            result = run(SLICE, place / "in.cpp", "-o", place / "out.cpp", "--", *around)
            if (result.returncode, result.stdout, result.stderr.count("\n")) != (2, "", 1) or fragment not in result.stderr:
                yield (f"a refusal with '{fragment}' expected, but the exit status is {result.returncode}: "
                       f"{result.stderr}{text}")
            if [path.name for path in place.iterdir()] != ["in.cpp"]:
                yield f"the refusal with '{fragment}' leaves a file"


def refused_on_device():
    """Yields nests that cannot become a kernel and that are not refused in one sentence."""
    mark = "#pragma staircase slice(i: 3) device(cuda)"
    loop = "  for (int i = 0; i < n; ++i) "
    for text, options, fragment in (
            (NEST.format(f"{mark}\n{loop}x[i] = std::min(1.0, y[i]);"), [], "`std::min`"),
            (NEST.format(f"{mark}\n{loop}x[i] = y[i] * y.size();"), [], "a size of `y`"),
            (NEST.format(f"std::pair<int, int> q;\n{mark}\n{loop}x[i] = q.first;"), [], "`q` is an object"),
            (NEST.format(f"{mark}\n{loop}x[i] = 1;"), ["--form", "3"], "only loop (4)"),
            (NEST.format(f"{mark}\n{loop}x[i] = 1;"), ["--template"], "--template"),
            ("#include <vector>\nstruct S { void f(std::vector<double>& x, int n) {\n" + f"{mark}\n{loop}x[i] = 1;\n}} }};\n", [],
             "a method")):
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            (place / "in.cpp").write_text("#include <algorithm>\n" + text)
            result = run(SLICE, place / "in.cpp", "-o", place / "out.cu", *options, "--", *HEADERS)
            if (result.returncode, result.stdout, result.stderr.count("\n")) != (2, "", 1) or fragment not in result.stderr:
                yield (f"a refusal with '{fragment}' expected, but the exit status is {result.returncode}: "
                       f"{result.stderr}{text}")
            if [path.name for path in place.iterdir()] != ["in.cpp"]:
                yield f"the refusal with '{fragment}' leaves a file"
    # The host evaluates expressions that occur only in bounds.
    for bound in ("x.size()", "std::min(n, m)"):
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            (place / "in.cpp").write_text("#include <algorithm>\n" + NEST.format(
                f"{mark}\n  for (long i = 0; i < {bound}; ++i) x[i] = 1;"))
            result = run(SLICE, place / "in.cpp", "-o", place / "out.cu", "--", *HEADERS)
            if result.returncode:
                yield result.stderr


def options():
    """Yields wrong output paths and requests that are not refused before the slicer starts its work."""
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        good, out = place / "good.cpp", place / "out.cpp"
        text = NEST.format("#pragma staircase slice(i: 3) buffers(2)\n  for (int i = 0; i < n; ++i) x[i] = 1;")
        good.write_text(text)
        (place / "same.cpp").symlink_to(good)
        for arguments, fragment in (([good, "-o", good], "itself"), ([good, "-o", place / "same.cpp"], "itself"),
                                    ([good, "-o", "/nowhere/at/all"], "/nowhere/at/all"), ([good, "-o", place], str(place)),
                                    ([good, "-o"], "-o"), (["-o", out], "FILE"), (["nowhere.cpp", "-o", out], "nowhere.cpp"),
                                    ([good, "-o", out, "--form", "5"], "'5'"), ([good, "-o", out, "--form", "x"], "x"),
                                    ([good, "-o", out, "--form", "3"], "loop (4)"), ([good, "--check", "-o", out], "exclude"),
                                    ([good, "-o", out, "--form", "3", "--template"], "--template"),
                                    ([good, "--check", "--form", "3"], "-o"), ([good, "-o", out, "--json", "-"], "--check")):
            result = run(SLICE, *arguments)
            if (result.returncode, result.stdout, result.stderr.count("\n")) != (2, "", 1) or fragment not in result.stderr:
                yield (f"{arguments}: a refusal with '{fragment}' expected, but the exit status is {result.returncode}: "
                       f"{result.stdout}{result.stderr}")
            if out.exists() or good.read_text() != text:
                yield f"{arguments}: the refused command writes a file"
        for more in ([], ["--template"]):
            result = run(SLICE, good, "-o", out, *more)
            if result.returncode or result.stdout or result.stderr:
                yield f"{more}: the slicer fails or prints something: {result.stderr}"
            result = run(*COMPILER, *STRICT, "-fsyntax-only", "-Wno-unused-parameter", out)
            if result.returncode:
                yield f"{more}: the generated code does not compile: {result.stderr}"


CHECKS = (
    ("sliced random nests compute the results of the original nests", random_nests),
    ("sliced loops and arrays in various notations compute the original results", many_forms),
    ("sliced stages compute the results of the manually written stages", stages),
    ("slicing matmul 00 generates the nest of matmul 01, up to names", text_of_product),
    ("slices that run on the CPU device compute the original results", on_device),
    ("nests that cannot become a kernel are refused in one sentence", refused_on_device),
    ("nests that cannot be sliced are refused in one sentence", refused),
    ("wrong arguments of -o are refused before anything is written", options))
tap.report((title, check()) for title, check in (CHECKS[:1] if sys.argv[4:] else CHECKS))
