"""Tests that `slice --check` can read the sources of the repository, and that most of their system headers are precompiled.

Usage: sources_test.py [ROOT SLICE BUILD]; without the program, all checks are skipped. Prints TAP. Each run reads all
stages and programs of the documentation, and a random third of the other sources. The seed is new each time, or the
value of STAIRCASE_TEST_SEED.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import secrets
import subprocess
import sys
import tempfile

import tap

if len(sys.argv) < 4:
    tap.skip("the slicer needs libclang and isl")
    sys.exit()
ROOT, SLICE, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
SEED = int(os.environ.get("STAIRCASE_TEST_SEED", secrets.randbits(30)))
PLACES = ("common", "docs", "stages", "tests")
# All sources in these directories are read. They contain the loops that the book is about.
WHOLE = ("docs", "stages")
# The CPU device's headers.
STAND_IN = ROOT / "common/cuda_on_cpu/include"
# Options of libclang in addition to the options of the build.
MORE = {"docs/communication/simulated.cpp": ["--", "-I/usr/include/smpi", "-Icommon/include", "-Icommon"],
        "common/cuda_on_cpu/src/machine/switch_aarch64.cpp": ["--", "--target=aarch64-linux-gnu"]}
# These sources call functions of CUDA's libraries that neither the slicer's headers nor the CPU device's declare.
BEYOND = {"common/library_forms/gpu.cu"}
INCLUDED = re.compile(r"^ *# *include <([\w/.+-]+)>", re.MULTILINE)


def found(*endings):
    return sorted(path for place in PLACES for ending in endings for path in (ROOT / place).rglob("*" + ending))


def check(source, *arguments):
    return subprocess.run([SLICE, "--check", source, *arguments], capture_output=True, text=True, cwd=ROOT)


class Build:
    """The sources that the build compiles, and its include directories."""

    def __init__(self):
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        listed = {pathlib.Path(each["directory"], each["file"]).resolve() for each in commands}
        # If several sources are compiled together, only the file that includes them is listed.
        together = {pathlib.Path(name) for path in listed if "unity" in path.name and path.exists()
                    for name in re.findall(r'^#include *[<"](.+)[>"]$', path.read_text(), re.MULTILINE)}
        self.sources = listed | together
        self.headers = {pathlib.Path(each["directory"], place).resolve() for each in commands
                        for place in re.findall(r"(?:-I|-isystem) *(\S+)", each["command"])}

    def lacks(self, source, said):
        """Whether a source that is not compiled here includes a header that does not exist here. The CPU device's
        headers replace CUDA's only in CUDA sources. In another source, such a header is missing without the toolkit."""
        if "come with CUDA's toolkit" in said:  # the header needs a table of the toolkit
            return True
        missing = re.search(r"'([\w/.+-]+)' file not found", said)
        is_cuda = source.suffix == ".cu"  # nvcc finds the toolkit's headers without an option
        if not missing or (source in self.sources and not is_cuda):
            return False
        more = MORE.get(str(source.relative_to(ROOT)))
        offered = self.headers if more is None else {ROOT / word[2:] for word in more if word.startswith("-I")}
        places = {pathlib.Path("/usr/include")} | offered
        if not is_cuda:
            places.discard(STAND_IN)
        of_repository = (path for path in found(pathlib.Path(missing[1]).suffix)
                         if is_cuda or not path.is_relative_to(STAND_IN))
        return not any((place / missing[1]).exists() for place in places) and not any(
            path.match(missing[1]) for path in of_repository)


def unread_sources():
    """Yields sources that are refused, unless this configuration does not compile them because a library's headers are
    missing."""
    sources = found(".cpp", ".cu")
    if len(sources) < 250:
        yield f"the repository has only {len(sources)} sources"
    draws = random.Random(SEED)
    sources = [source for source in sources
               if source.relative_to(ROOT).parts[0] in WHOLE or draws.randrange(3) == 0]
    print(f"# {len(sources)} sources, STAIRCASE_TEST_SEED={SEED}")
    names = [str(source.relative_to(ROOT)) for source in sources]
    with concurrent.futures.ThreadPoolExecutor() as together:
        results = list(together.map(lambda name: check(name, *MORE.get(name, ["-p", BUILD])), names))
    build = Build()
    for source, name, result in zip(sources, names, results):
        if name in BEYOND:
            if not re.search(r"use of undeclared identifier '(cublas|cusolver|cusparse)|file not found", result.stderr, re.IGNORECASE):
                yield f"{name} can be read and does not belong into BEYOND any more: {result.stderr}"
            continue
        if result.returncode in (0, 1):
            continue
        if build.lacks(source, result.stderr):
            print(f"# {name} is not tested, because a header is missing: {result.stderr.splitlines()[0]}")
        else:
            yield result.stderr


def guessed_arguments():
    """Checks that a source that is compiled as part of another one gets its arguments. A source that is not compiled
    gets all include directories except the directory of the CPU device's headers."""
    stand_in = "#include <cuda_on_cpu/%s>\n" % next((STAND_IN / "cuda_on_cpu").glob("*.hpp")).name
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory).resolve()
        (place / "own").mkdir()
        (place / "own/own.hpp").write_text("#pragma once\n")
        (place / "together-unity0.cpp").write_text(f"#include<{place}/together.cpp>\n")
        (place / "compile_commands.json").write_text(json.dumps([
            {"directory": directory, "file": name, "command": f"c++ -I{STAND_IN} -Iown -D{macro} -c {name}"}
            for name, macro in (("listed.cpp", "LISTED"), ("together-unity0.cpp", "TOGETHER"))]))
        for name, text, status in (("listed", stand_in + "#ifndef LISTED\n#error\n#endif\n", 0),
                                   ("together", stand_in + "#ifndef TOGETHER\n#error\n#endif\n", 0),
                                   ("other", '#include "own.hpp"\n#ifdef LISTED\n#error\n#endif\n', 0),
                                   ("lacking", stand_in, 2)):
            source = place / f"{name}.cpp"
            source.write_text(text)
            result = check(source)
            if result.returncode != status:
                yield f"{name}: the exit status is {result.returncode}, not {status}: {result.stderr}"


def headers_not_precompiled():
    """Yields system headers that several sources include and that are not precompiled."""
    for ending, header in ((".cpp", "cxx.hpp"), (".cu", "cuda.hpp")):
        counts = collections.Counter(name for path in found(ending) for name in INCLUDED.findall(path.read_text())
                                     if "/" not in name and "." not in name)
        have = set(INCLUDED.findall((ROOT / "common/slicer" / header).read_text()))
        lacking = {name for name, count in counts.items() if count >= 5} - have
        if lacking:
            yield f"{header} lacks the header {', '.join(sorted(lacking))}, which at least 5 sources include"


def precompiled_uses():
    """Checks that names of system headers are known without an include, so no header was parsed, and that a conflicting
    file is read."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "lacking.cpp")
        loop = "void f(std::vector<double>& x) {\n  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0;\n}\n"
        source.write_text(loop)
        result = check(source, "--", "-Icommon/include")
        if "independent" not in result.stdout:
            yield f"the precompiled header is not used: {result.stderr}"
        result = check(source, "--", "-std=c++17")
        if result.returncode != 2:
            yield f"the precompiled header is used with -std=c++17: {result.stdout}"
        source.write_text("#include <vector>\n" + loop)
        result = check(source, "--", "-std=c++17")
        if "independent" not in result.stdout:
            yield f"a source with -std=c++17 is not read: {result.stderr}"
        source.write_text("struct testing {};\ntesting of(int i);\n" + "#include <vector>\n" + loop)
        result = check(source, "--", "-Icommon/include")
        if "independent" not in result.stdout:
            yield f"a source that declares a name of a precompiled header is not read: {result.stderr}"


tap.report((title, check_of()) for title, check_of in (
    ("the slicer reads all stages and a third of the other sources, if their headers are installed", unread_sources),
    ("compiler arguments come from the build, or are guessed for sources that it does not compile", guessed_arguments),
    ("every system header that at least 5 sources include is precompiled", headers_not_precompiled),
    ("a precompiled header is used only if the language and the declared names agree", precompiled_uses)))
