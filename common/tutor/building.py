"""Builds a working copy with the commands that build its stage. Meson itself does not run, so a build takes only seconds."""

import dataclasses
import hashlib
import os
import pathlib
import re
import shlex
import subprocess

from confining import confined

# Counted programs are optimised, but loops are neither vectorised nor unrolled, because this would change the number of
# accesses.
COUNTED = ["-O1", "-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0"]
BOUNDS = ("-O1", "-fsanitize=address")  # find the first access out of bounds on the processor
COUNTER = "common/tutor/libcounted_accesses.a"  # defines the callbacks of ThreadSanitizer


# An index beyond an array of known extent ends the launch with a finding.
CHECKED = {"gcc": ["-fsanitize=bounds", "-fno-sanitize-recover=bounds"],
           "clang": ["-fsanitize=array-bounds", "-fno-sanitize-recover=array-bounds"]}
LARGEST_SHARED = 48 << 10  # bytes of __shared__ variables of a kernel that are no dynamic shared memory
WARNINGS = "warnings.txt"  # a file in an output directory: the output of compilers that succeeded


class NotBuilt(Exception):
    """A compiler or a linker failed. The text is the output of the command."""


@dataclasses.dataclass(frozen=True)
class Places:
    """The root of the repository, and a build directory that Meson has configured."""

    root: pathlib.Path
    build: pathlib.Path

    @property
    def outputs(self):
        """The directory for programs that are built from working copies. This directory is in the build directory or, if the
        user cannot write there, in the user's cache directory."""
        if os.access(self.build, os.W_OK):
            return self.build / "exercises"
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        return cache / "staircase" / "exercises" / hashlib.sha256(str(self.build).encode()).hexdigest()[:12]

    def named(self, path):
        """The form of a path in messages: relative to the root of the repository, if the path is inside it."""
        path = pathlib.Path(path)
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


def ninja(places, *arguments):
    """Runs ninja and returns its output. Raises NotBuilt with the end of the output if ninja fails."""
    ran = subprocess.run(["ninja", "-C", places.build, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", check=False)
    if ran.returncode != 0:
        raise NotBuilt(ran.stdout[-2000:])
    return ran.stdout


def has_target(places, target):
    """Whether the build directory has a rule for a target."""
    return subprocess.run(["ninja", "-C", places.build, "-t", "query", target], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def commands_of(places, target):
    """The commands that build the program of a stage, as lists of words: rewriting (only for the CPU device), compiling and
    linking."""
    own = re.compile(rf"(?:^|[\s/]){re.escape(target)}(?:\.p/|\.cpp\s|\s)")
    lines = ninja(places, "-t", "commands", target).splitlines()
    return [shlex.split(line) for line in lines if own.search(line + " ") and "symbolextractor" not in line]


def instead(words, target, stage, source, out, places):
    """Yields the words of a build command, changed for another source and another output directory."""
    name = pathlib.PurePath(target).name
    true_source = os.path.relpath(stage.source, places.build)
    harness = places.build / "common" / "harness"
    for word in words:
        if word in ("-Werror", "-Xcompiler=-Werror", "-Werror=all-warnings"):
            continue  # unfinished code may contain unused variables
        if word == true_source:
            yield os.path.relpath(source, places.build)
        else:
            word = word.replace("$ORIGIN/../common/harness", str(harness))
            yield re.sub(rf"^(-I|-MF)?{re.escape(target)}(?=$|\.)", lambda match: (match[1] or "") + str(out / name), word)


def build(places, target, stage, source, out, counted=False, flags=()):
    """Builds a program from another source than the stage's, in the directory `out`. If `counted`, the program counts its
    memory accesses. All commands also get the words `flags`. The analysed program also checks the indices of arrays.
    Returns the path of the program; raises NotBuilt if a command fails."""
    commands = commands_of(places, target)
    if not commands:
        raise NotBuilt(f"the build directory does not know '{target}'")
    program, warned = out / pathlib.PurePath(target).name, ""
    (out / (program.name + ".p")).mkdir(parents=True, exist_ok=True)
    for number, words in enumerate(commands, 1):
        words = list(instead(words, target, stage, source, out, places))
        links = number == len(commands)
        if not links:
            # The source may include files from the directory of the stage.
            words += [f"-I{stage.source.parent}"]
        if not links and target.endswith("-analyze") and "-fsanitize=thread" in words:
            words += CHECKED["clang" if any("clang" in word for word in words[:2]) else "gcc"]
        words += flags
        if counted:
            words += [str(places.build / COUNTER), "-ldl"] if links else COUNTED
        ran = subprocess.run(confined(words), cwd=places.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", check=False)
        if ran.returncode != 0:
            raise NotBuilt(ran.stdout)
        warned += ran.stdout
    (out / WARNINGS).write_text(warned)
    return program


def shared_bytes(program):
    """The bytes of __shared__ variables that a program for the CPU device declares, by the name of the function."""
    symbols = subprocess.run(["readelf", "-sW", program], stdout=subprocess.PIPE, text=True, errors="replace",
                             check=False).stdout
    found = re.findall(r"^\s*\d+:\s+[0-9a-f]+\s+(0x[0-9a-f]+|\d+)\s+TLS\s+\S+\s+\S+\s+\d+\s+(_ZZ\S+)$", symbols,
                       re.MULTILINE)
    names = subprocess.run(["c++filt"], input="\n".join(name for _, name in found), stdout=subprocess.PIPE, text=True,
                           check=False).stdout
    sizes = {}
    for (size, _), name in zip(found, names.splitlines()):
        function, _, variable = name.rpartition("::")
        if not variable.startswith("cuda_on_cpu_"):
            sizes[function] = sizes.get(function, 0) + int(size, 0)
    largest = {}
    for function, size in sizes.items():
        name = re.findall(r"(\w+)(?:<.*>)?\(", function)[0] if re.search(r"\w(?:<.*>)?\(", function) else function
        largest[name] = max(size, largest.get(name, 0))
    return largest


def warnings_of(out, places):
    """The compiler's warnings about variables without a value, with file and line, from the build in the directory `out`."""
    try:
        text = (out / WARNINGS).read_text()
    except OSError:
        return []
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", text)
    found = re.findall(r"^([^\s:]+):(\d+):\d+: warning: (.*(?:uninitialized|is set but never used).*?)(?: \[-W[^]]*\])?$",
                       plain,
                       re.MULTILINE)
    return list(dict.fromkeys(f"{places.named(os.path.normpath(places.build / file))}:{line}: {what}" for file, line,
                              what in found))


def first_error(output, places, source=None):
    """The first error in the output of a compiler or linker, as a dictionary with the file, the line number, the message and
    the source line. If the error is in another file, and the output names a line of `source` that leads to it, the result
    refers to this line. If the output names no line, the message is the end of the output."""
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", output)
    lines = plain.splitlines()

    def error_at(file, line, what):
        path = pathlib.Path(os.path.normpath(places.build / file))
        return {"file": places.named(path), "line": int(line), "what": what, "source": line_of(path, int(line))}

    def is_source(file):
        return source is not None and os.path.normpath(places.build / file) == os.path.normpath(places.build / source)

    for number, line in enumerate(lines):
        found = re.match(r"(?P<file>[^\s:(]+)[:(](?P<line>\d+)(?::\d+|\))*: (?:fatal )?error:? *(?P<what>.*)", line)
        if found:
            if not is_source(found["file"]):
                # The lines before an error name the including files; the lines after the error are notes of the compiler.
                next_error = next((later for later in range(number + 1, len(lines)) if " error: " in lines[later]),
                                  len(lines))
                for other in [*reversed(lines[max(0, number - 12):number]), *lines[number + 1:next_error]]:
                    led = re.match(r"\s*(?:In file included from )?(?P<file>[^\s:(]+):(?P<line>\d+)(?::\d+)*: *"
                                   r"(?:required (?:from|by)|note:|recursively|  )", other)
                    if led and is_source(led["file"]):
                        return error_at(led["file"], led["line"], found["what"])
            return error_at(found["file"], found["line"], found["what"])
        missing = re.search(r"undefined reference to .*|multiple definition of .*", line)
        if missing:
            return {"file": None, "line": None, "what": missing[0], "source": ""}
    return {"file": None, "line": None, "what": "\n".join(lines[-3:]), "source": ""}


def line_of(path, number):
    """A line of a file without surrounding spaces; empty if the file has no such line."""
    try:
        return path.read_text(errors="replace").splitlines()[number - 1].strip()
    except (OSError, IndexError):
        return ""
