"""Checks that the programs accept the commands that pages show: commands_test.py ROOT BUILD. Prints TAP.

Nothing is solved. A stage program gets an output path that cannot be written, and the runner gets zero repeats. Each
program refuses this only after it has accepted all other arguments.
"""

import fnmatch
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import tap

ROOT, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
CLIMB = BUILD / "common" / "climb" / "climb"
SLICE = BUILD / "common" / "slicer" / "slice"
UNWRITABLE = "/nowhere/at/all.npy"
# Programs of Debian or NVIDIA, whose options are not checked. Some of them start a program of this project.
TOOLS = {"grep", "kill", "mkdir", "nvidia-smi", "sleep", "tee"}
WRAPPERS = {"compute-sanitizer", "gdb", "ncu", "nsys"}
VARIABLES = re.compile(r"OMP_\w+|OPENBLAS_VERBOSE|CUDA_VISIBLE_DEVICES")

PAGES = sorted(ROOT.glob("docs/pages/*.md")) + sorted(ROOT.glob("stages/**/*.md")) + [
    ROOT / "README.md", *sorted(ROOT.glob("common/*/README.md"))]
SOURCES = sorted(ROOT.glob("stages/*/*/*.c*"))


class Wrong(Exception):
    """The error of a command, in a sentence."""


@functools.cache
def run(*command):
    """The exit status and the standard error of a program."""
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)
    return result.returncode, result.stderr.strip()


def without(words, *options):
    """The words of a command without some options and their values."""
    kept, words = [], iter(words)
    for word in words:
        if word in options:
            next(words, None)
        else:
            kept.append(word)
    return kept


def values_of(words, option):
    """The values that follow an option."""
    return [value for word, value in zip(words, words[1:]) if word == option]


def built(*names):
    """The first of some programs in build/stages that is built, or None."""
    return next((path for name in names for path in (BUILD / "stages").glob(name) if path.is_file()), None)


@functools.cache
def described(workload):
    """The description that stage zero of a workload prints."""
    program = built(f"{workload}-00_*")
    if not program:
        raise Wrong(f"there is no workload {workload}")
    return json.loads(subprocess.run([program, "--describe"], capture_output=True, text=True, check=True).stdout)


@functools.cache
def stand_ins(workload="*"):
    """A directory with scripts that print the descriptions of a workload's programs, because the runner queries all
    programs.

    A program that is not built here, such as a baseline whose library is missing, gets the description of stage zero.
    """
    directory = tempfile.TemporaryDirectory()
    for source in ROOT.glob(f"stages/{workload}/*/*.c*"):
        workload, stage = source.relative_to(ROOT / "stages").parts[:2]
        name = f"{workload}-{stage}" if stage != "baselines" else f"{workload}-baseline_{source.stem}"
        program = built(name, f"{name}-cpu")
        message = described(workload) if not program else json.loads(
            subprocess.run([program, "--describe"], capture_output=True, text=True, check=True).stdout)
        script = pathlib.Path(directory.name, name)
        script.write_text(f"#!/bin/sh\nprintf %s {shlex.quote(json.dumps(message))}\n")
        script.chmod(0o700)
    return directory


def check_stage(path, *words):
    """Checks a command that starts a stage program. If this program is not built here, its variant for the CPU device
    or stage zero is started."""
    name = path.name
    stage = re.fullmatch(r"(\w+)-((?:\d\d|baseline)_\w+?)(-cpu)?(-analyze)?", name)
    if not stage or not any(ROOT.glob(f"stages/{stage[1]}/{stage[2]}/*.c*") if stage[2][0].isdigit() else
                            ROOT.glob(f"stages/{stage[1]}/baselines/{stage[2].removeprefix('baseline_')}.c*")):
        raise Wrong(f"there is no stage {name}")
    program = built(name, f"{stage[1]}-{stage[2]}", f"{stage[1]}-{stage[2]}-cpu", f"{stage[1]}-00_*")
    if not program:
        raise Wrong("no program of the workload is built")
    if program.name != name:
        words = [word for word in words if word != "--analyze"]
    if {"--describe", "--help"} & set(words):
        status, message = run(program, *words)
        good = status == 0
    else:
        # The files are those that earlier commands of a page would have written. Their number must be the number of inputs.
        files = values_of(words, "--input")
        if files and len(files) != len(described(stage[1])["inputs"]):
            raise Wrong(f"the number of input files, {len(files)}, differs from the number of inputs")
        status, message = run(program, *without(words, "--output", "--input"), "--output", UNWRITABLE)
        good = status == 2 and UNWRITABLE in message
    if not good:
        raise Wrong(message or f"the program ends with status {status}")


def check_runner(*words):
    """Checks a command of the runner; the stages check the data set and its changed parameters."""
    # The only stages here are stages zero, so no program can replace those for other devices.
    if any(device not in ("all", "cpu", "gpu", "cpu-device") for device in values_of(words, "--device")):
        raise Wrong("a device is unknown")
    words = without(words, "--device")
    known = words and (ROOT / "stages" / words[0]).is_dir()
    programs = stand_ins(words[0]) if known else stand_ins()
    counted = [] if {"--list", "--help"} & set(words) else ["--repeat", "0"]
    status, message = run(CLIMB, "--programs", programs.name, *without(words, "--repeat"), *counted)
    if status != 0 and not (status == 2 and "--repeat" in message):
        raise Wrong(message or f"the program ends with status {status}")
    repeats = values_of(words, "--repeat")
    if not all(value.isdigit() and int(value) for value in repeats):
        raise Wrong(f"--repeat does not take {repeats}")
    named = [word for word in words[:1] if not word.startswith("-")]
    workloads = named or sorted(path.parent.name for path in ROOT.glob("stages/*/00_*"))
    for dataset in ",".join(values_of(words, "--dataset")).split(","):
        if dataset and any(dataset not in described(workload)["datasets"] for workload in workloads):
            raise Wrong(f"there is no data set {dataset}")
    for assignment in values_of(words, "--set"):
        for workload in workloads:
            stage = described(workload)["stage"]
            check_stage(BUILD / "stages" / f"{workload}-{stage}", "--set", assignment)


def check_tutor(*words):
    """Checks ./climb exercise and similar commands on working copies of this test; a check builds nothing."""
    with tempfile.TemporaryDirectory() as copies:
        tutor = [sys.executable, ROOT / "common" / "tutor", BUILD]
        if words[0] != "exercise":
            run(*tutor, "exercise", *words[1:3], "--copies", copies)
        status, message = run(*tutor, *words, *(["--refuse"] if words[0] == "check" else []), "--copies", copies)
    if status != 0:
        raise Wrong(message)


def check_grade(*words):
    """Checks the command that grades submissions; a directory that exists replaces the submissions on a page."""
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "submission.cu").write_text("")
        words = [directory if word == "submissions" else word for word in words]
        status, message = run(sys.executable, ROOT / "common" / "tutor", BUILD, *words, "--refuse")
    if status != 0:
        raise Wrong(message)


def check_launcher(*words):
    """Checks ./climb: its own commands, or those of the runner."""
    words = [word for word in words if word != "--yes"]
    if words[:1] == ["--gpu"]:
        words = words[2:]
    sanitizers = re.search(r"^    (\w+( \| [\w,]+)+)\) ;;$", (ROOT / "climb").read_text(), re.MULTILINE)[1].split(" | ")
    if words[:1] == ["--record"]:
        status, message = run(sys.executable, ROOT / "docs", "record", "--list", *words[1:])
        if status != 0:
            raise Wrong(message)
    elif words[:1] and words[0] in ("exercise", "check", "hint", "solution"):
        check_tutor(*words)
    elif words[:1] == ["grade"]:
        check_grade(*words)
    elif words[:1] not in (["test"], ["book"], ["serve"], ["setup"]):
        check_runner(*words)
    elif words[:1] == ["test"] and words[1:2] != ["--sanitize"]:
        status, message = run(sys.executable, ROOT / "tests" / "run_tests.py", "meson", BUILD, "--targets", *words[1:])
        if status != 0:
            raise Wrong(message)
    elif words not in (["book"], ["book", "--open"], ["serve"], ["setup"], *(["test", "--sanitize", sanitizer] for sanitizer in sanitizers)):
        raise Wrong("./climb has no such command; see ./climb --help")


def check_meson(*words):
    """Checks `meson test`, whose tests must exist, and commands for packagers."""
    if words in (("install", "-C", "build", "--strip"), ("dist", "-C", "build", "--no-tests")):
        return
    if words[:3] != ("test", "-C", "build"):
        raise Wrong("this test does not know the command of Meson")
    names = [test["name"] for test in json.loads((BUILD / "meson-info" / "intro-tests.json").read_text())]
    # Without nvcc, programs for a GPU have no tests.
    names += [f"{source.parent.parent.name}-{source.parent.name}" for source in ROOT.glob("stages/*/*/*.cu")]
    for pattern in words[3:]:
        # Without the CPU device or the book, these tests do not exist.
        if not fnmatch.filter(names, pattern) and pattern not in ("optimisations", "book"):
            raise Wrong(f"there is no test {pattern}")


def check_slicer(*words):
    """Checks a command of the slicer, which examines files that must exist."""
    if not SLICE.exists():
        return
    with tempfile.TemporaryDirectory() as directory:
        outputs = [["-o", pathlib.Path(directory, output)] for output in values_of(words, "-o")]
        status, message = run(SLICE, *without(words, "-o"), *sum(outputs, []))
    if status not in (0, 1):
        raise Wrong(message or f"the program ends with status {status}")


def check_python(script, command="", *_):
    """Checks a command that starts a script of this project, or a command of the directory docs."""
    if not (ROOT / script).exists():
        raise Wrong(f"the script {script} does not exist")
    if script == "docs" and f'"{command}": ' not in (ROOT / "docs" / "__main__.py").read_text():
        raise Wrong(f"the directory docs has no command {command}")


def check_git(*words):
    """Checks a command of git, whose files must exist."""
    for word in words:
        if "/" in word and not (ROOT / word).exists():
            raise Wrong(f"the file {word} does not exist")


def check_words(words):
    """Checks one command, given as words."""
    while words and re.fullmatch(r"\w+=.*", words[0]):
        variable = words[0].partition("=")[0]
        known = VARIABLES.fullmatch(variable) or f'"{variable}"' in (
            ROOT / "common" / "cuda_on_cpu" / "src" / "settings.cpp").read_text()
        if not known:
            raise Wrong(f"no program reads the variable {variable}")
        words = words[1:]
    name, *rest = words
    if name in WRAPPERS:
        ours = next((i for i, word in enumerate(rest) if word.startswith("build/")), None)
        if ours is None:
            raise Wrong(f"{name} starts no program of this project")
        check_words(rest[ours:])
    elif name.startswith("build/stages/"):
        check_stage(pathlib.Path(name), *rest)
    elif name == "build/common/climb/climb":
        check_runner(*rest)
    elif name == "build/common/slicer/slice":
        check_slicer(*rest)
    elif name in COMMANDS:
        COMMANDS[name](*rest)
    elif name.startswith("build/") and not (BUILD / name.removeprefix("build/")).exists():
        raise Wrong(f"the file {name} does not exist")
    elif name not in TOOLS and not name.startswith("build/"):
        raise Wrong(f"the program {name} is unknown")


COMMANDS = {"./climb": check_launcher, ".venv/bin/meson": check_meson, "python3": check_python, "git": check_git}
OURS = re.compile(r"(?:[A-Z_]+=\S+ )*(?:\./|build/|\.venv/|(?:%s) )" % "|".join(sorted(TOOLS | WRAPPERS | set(COMMANDS) - {"./climb"})))


def commands_of(line):
    """The commands in a line, split as a shell splits them."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    command = []
    for word in lexer:
        if word in ("|", "&", "&&", ";"):
            yield command
            command = []
        else:
            command.append(word)
    if command:
        yield command


def lines_of(page):
    """The lines of a page that contain commands: in code blocks, in inline code, and in the header of a stage."""
    text = page.read_text()
    tried = text.find("\n## Try it")
    for block in re.finditer(r"^ *```(\w*)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
        lines = [line.strip() for line in block[2].replace("\\\n", " ").splitlines()]
        # All blocks under «Try it» contain commands. Elsewhere, blocks may contain drawings and outputs.
        if block[1] != "math" and (any(map(OURS.match, lines)) or 0 <= tried < block.start()):
            yield from lines
    yield from (quoted for quoted in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
                if re.match(r"(\./climb|build/stages/\S+) ", quoted) and not re.search(r"\b[A-Z]{4,}\b|\.\.\.|…", quoted))
    yield from re.findall(r"^/// Run: +(.+)", text, re.MULTILINE)


def wrong_commands(pages):
    """The number of commands, and the commands that a program would not accept."""
    count, problems = 0, []
    for page in pages:
        made = set()
        for line in lines_of(page):
            for words in commands_of(line):
                count += 1
                if words[0] == "mkdir":
                    made.add(words[-1])
                if any(str(pathlib.Path(file).parent) in made for file in values_of(words, "--json")):
                    words = without(words, "--json")
                try:
                    check_words(words)
                except Wrong as wrong:
                    problems.append(f"{page.relative_to(ROOT)}: {' '.join(words)}: {wrong}")
    return count, problems


def targets(words):
    """The programs that ./climb builds for some arguments."""
    result = subprocess.run([CLIMB, "--source", ROOT, "--targets", *words], capture_output=True, text=True, cwd=ROOT)
    return [target.removeprefix("stages/") for target in result.stdout.split()]


def unbuilt(lines):
    """Programs of stages that some lines start, although no ./climb in these lines builds them."""
    commands = [words for line in lines for words in commands_of(line)]
    built_by_climb = {target for name, *rest in commands if name == "./climb" for target in targets(rest)}
    known = {line.split()[0] for line in (BUILD / "stages/programs.txt").read_text().splitlines()}
    started = {word.removeprefix("build/stages/") for words in commands for word in words if word.startswith("build/stages/")}
    return sorted(started & known - built_by_climb)


def unbuilt_on_pages():
    """Yields programs that do not exist when a reader has entered the commands of a stage's page."""
    for page in ROOT.glob("stages/*/*/README.md"):
        yield from (f"{page.relative_to(ROOT)}: no ./climb on the page builds {program}"
                    for program in unbuilt(lines_of(page)))
    seeded = ["./climb ata --stages 03", "build/stages/ata-00_original",
              "build/stages/ata-04_tiled-cpu-analyze --set rows=3"]
    if unbuilt(seeded) != ["ata-04_tiled-cpu-analyze"]:
        yield f"the check finds {unbuilt(seeded)} in the seeded commands"


def accepted_commands():
    """Yields wrong commands that the test accepts."""
    for line in ("./climb atta", "./climb ata --stages 00,77", "./climb ata --dataset enormous", "./climb ata --stages 04 --reference 99",
                 "./climb ata --precision f16", "./climb ata --fast", "./climb test --sanitize memory", "./climb ata --set n=3",
                 "build/stages/ata-00_originall", "build/stages/ata-00_original --dataset enormous", "OMP_THREADS=1 nosuch",
                 "build/stages/ata-00_original --set rows=0", "build/stages/ata-00_original --set row=3",
                 "build/stages/ata-00_original --precision f16", "build/stages/ata-03_naive_cuda-cpu --dataset hugest",
                 "ncu --set full build/stages/ata-03_naive_cuda --dataset hugest", "CUDA_ON_CPU_GPUS=2 build/stages/ata-00_original",
                 "build/stages/ata-00_original | heap", "python3 docs figure", "git diff --no-index --stat stages/ata/nothing.cu",
                 "build/stages/triangular_solve-00_original --input L.npy",
                 "./climb exercise ata 77", "./climb check ata", "./climb hint atta 04_tiled",
                 ".venv/bin/meson test -C build nosuch", "build/common/ceiling/ceilings", "./climb ata --repeat none",
                 *["build/common/slicer/slice --check docs/nothing.cpp"] * SLICE.exists()):
        try:
            for words in commands_of(line):
                check_words(words)
            yield f"the command is accepted: {line}"
        except Wrong:
            pass


def main():
    """Prints one TAP line per check."""
    count, of_pages = wrong_commands(PAGES)
    count_of_sources, of_sources = wrong_commands(SOURCES)
    checks = (("pages contain more than 100 commands, and every source contains one",
               [] if count > 100 and count_of_sources >= len(SOURCES) - len(list(ROOT.glob("stages/*/baselines/*")))
               else [f"there are {count} on pages and {count_of_sources} in sources"]),
              ("programs accept all commands on pages", of_pages), ("programs accept all commands in sources", of_sources),
              ("a ./climb on each page builds the programs that the page starts", unbuilt_on_pages()),
              ("wrong commands are refused", accepted_commands()))
    tap.report(checks, most=30)


main()
