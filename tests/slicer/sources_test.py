"""Every source of the repository can be read by `slice --check`, and what most of them include is precompiled.

Usage: sources_test.py [ROOT SLICE BUILD]; without the program all is skipped. Speaks TAP.
"""

import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import tap

if len(sys.argv) < 4:
    tap.skip("the slicer needs libclang and isl")
    sys.exit()
ROOT, SLICE, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
PLACES = ("common", "docs", "stages", "tests")
# What is asked of libclang beyond what the build says.
MORE = {"docs/communication/simulated.cpp": ["--", "-I/usr/include/smpi", "-Icommon/include", "-Icommon"],
        "common/cuda_on_cpu/src/machine/switch_aarch64.cpp": ["--", "--target=aarch64-linux-gnu"]}
INCLUDED = re.compile(r"^ *# *include <([\w/.+-]+)>", re.MULTILINE)


def found(*endings):
    return sorted(path for place in PLACES for ending in endings for path in (ROOT / place).rglob("*" + ending))


def check(source, *arguments):
    return subprocess.run([SLICE, "--check", source, *arguments], capture_output=True, text=True, cwd=ROOT)


def places_of_headers():
    """Where the build finds headers, besides the system's own place."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    said = {pathlib.Path(each["directory"], place) for each in commands
            for place in re.findall(r"(?:-I|-isystem) *(\S+)", each["command"])}
    return {pathlib.Path("/usr/include"), *said}


def is_missing(said, places):
    """Whether a header is not installed here; one of the repository, or one that the build finds, is no excuse."""
    missing = re.search(r"'([\w/.+-]+)' file not found", said)
    return missing and not any((place / missing[1]).exists() for place in places) and not any(
        path.match(missing[1]) for path in found(pathlib.Path(missing[1]).suffix))


def read():
    """No source is refused; one whose libraries are not here cannot be tried."""
    sources = found(".cpp", ".cu")
    if len(sources) < 250:
        yield f"only {len(sources)} sources"
    names = [str(source.relative_to(ROOT)) for source in sources]
    with concurrent.futures.ThreadPoolExecutor() as together:
        results = list(together.map(lambda name: check(name, *MORE.get(name, ["-p", BUILD])), names))
    places = places_of_headers()
    for name, result in zip(names, results):
        if result.returncode in (0, 1):
            continue
        if is_missing(result.stderr, places):
            print(f"# not tried: {name}: {result.stderr.splitlines()[0]}")
        else:
            yield result.stderr


def precompiled():
    """What several sources include of the system is not parsed for each of them."""
    for ending, header in ((".cpp", "cxx.hpp"), (".cu", "cuda.hpp")):
        counts = collections.Counter(name for path in found(ending) for name in INCLUDED.findall(path.read_text())
                                     if "/" not in name and "." not in name)
        have = set(INCLUDED.findall((ROOT / "common/slicer" / header).read_text()))
        lacking = {name for name, count in counts.items() if count >= 5} - have
        if lacking:
            yield f"{header} lacks {', '.join(sorted(lacking))}"


def used():
    """A name of the system is known without its header, so no header was parsed; and a file is read that minds this."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "lacking.cpp")
        loop = "void f(std::vector<double>& x) {\n  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0;\n}\n"
        source.write_text(loop)
        result = check(source, "--", "-Icommon/include")
        if "independent" not in result.stdout:
            yield f"it is not precompiled: {result.stderr}"
        result = check(source, "--", "-std=c++17")
        if result.returncode != 2:
            yield f"with another language it is used: {result.stdout}"
        source.write_text("#include <vector>\n" + loop)
        result = check(source, "--", "-std=c++17")
        if "independent" not in result.stdout:
            yield f"in another language: {result.stderr}"
        source.write_text("struct testing {};\ntesting of(int i);\n" + "#include <vector>\n" + loop)
        result = check(source, "--", "-Icommon/include")
        if "independent" not in result.stdout:
            yield f"with a name of its own that a header has, too: {result.stderr}"


tap.report((what, check_of()) for what, check_of in (
    ("every source can be read", read), ("what many include is precompiled", precompiled),
    ("what is precompiled is used where it fits", used)))
