"""Builds a working copy with the commands that build its stage. Meson does not run, so this takes only seconds."""

import dataclasses
import hashlib
import os
import pathlib
import re
import shlex
import subprocess

from confining import confined

# Accesses are counted in optimised code, but without vectorised and unrolled loops, which would change the counts of the source.
COUNTED = ["-O1", "-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0"]
COUNTER = "common/tutor/libcounted_accesses.a"  # it defines the callbacks of ThreadSanitizer


WARNINGS = "warnings.txt"  # in an output directory: what compilers said although they succeeded


class NotBuilt(Exception):
    """A compiler or linker has failed; the text is its output."""


@dataclasses.dataclass(frozen=True)
class Places:
    """The repository and a directory in which Meson has configured it."""

    root: pathlib.Path
    build: pathlib.Path

    @property
    def outputs(self):
        """The directory for programs built from working copies: in the build directory, or in the user's cache directory if
        this user cannot write to the build directory."""
        if os.access(self.build, os.W_OK):
            return self.build / "exercises"
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        return cache / "staircase" / "exercises" / hashlib.sha256(str(self.build).encode()).hexdigest()[:12]

    def named(self, path):
        """A path for messages: relative to the root of the repository if it is inside it."""
        path = pathlib.Path(path)
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


def ninja(places, *arguments):
    """The output of ninja. Raises NotBuilt with the end of the output if ninja fails."""
    ran = subprocess.run(["ninja", "-C", places.build, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", check=False)
    if ran.returncode != 0:
        raise NotBuilt(ran.stdout[-2000:])
    return ran.stdout


def has_target(places, target):
    """Whether the build directory knows how to build a target."""
    return subprocess.run(["ninja", "-C", places.build, "-t", "query", target], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def commands_of(places, target):
    """The commands that build the program of a stage, as lists of words: rewriting (for the CPU device), compiling, linking."""
    own = re.compile(rf"(?:^|[\s/]){re.escape(target)}(?:\.p/|\.cpp\s|\s)")
    lines = ninja(places, "-t", "commands", target).splitlines()
    return [shlex.split(line) for line in lines if own.search(line + " ") and "symbolextractor" not in line]


def instead(words, target, stage, source, out, places):
    """Yields the words of such a command for another source and another output directory."""
    name = pathlib.PurePath(target).name
    true_source = os.path.relpath(stage.source, places.build)
    harness = places.build / "common" / "harness"
    for word in words:
        if word in ("-Werror", "-Xcompiler=-Werror", "-Werror=all-warnings"):
            continue  # unfinished code may have unused variables
        if word == true_source:
            yield os.path.relpath(source, places.build)
        else:
            word = word.replace("$ORIGIN/../common/harness", str(harness))
            yield re.sub(rf"^(-I|-MF)?{re.escape(target)}(?=$|\.)", lambda match: (match[1] or "") + str(out / name), word)


def build(places, target, stage, source, out, counted=False):
    """Builds a program from another source than the stage's into the directory `out`, with access counters if `counted`. Returns its
    path; raises NotBuilt if a command fails."""
    commands = commands_of(places, target)
    if not commands:
        raise NotBuilt(f"the build directory does not know '{target}'")
    program, warned = out / pathlib.PurePath(target).name, ""
    (out / (program.name + ".p")).mkdir(parents=True, exist_ok=True)
    for number, words in enumerate(commands, 1):
        words = list(instead(words, target, stage, source, out, places))
        links = number == len(commands)
        if not links:
            # The source includes files from the directory of the stage.
            words += [f"-I{stage.source.parent}"]
        if counted:
            words += [str(places.build / COUNTER), "-ldl"] if links else COUNTED
        ran = subprocess.run(confined(words), cwd=places.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", check=False)
        if ran.returncode != 0:
            raise NotBuilt(ran.stdout)
        warned += ran.stdout
    (out / WARNINGS).write_text(warned)
    return program


def warnings_of(out, places):
    """The warnings of the compiler about variables without a value, each with its place; of the build in a directory."""
    try:
        text = (out / WARNINGS).read_text()
    except OSError:
        return []
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", text)
    found = re.findall(r"^([^\s:]+):(\d+):\d+: warning: (.*(?:uninitialized|is set but never used).*?)(?: \[-W[^]]*\])?$", plain,
                       re.MULTILINE)
    return list(dict.fromkeys(f"{places.named(os.path.normpath(places.build / file))}:{line}: {what}" for file, line, what in found))


def first_error(output, places, source=None):
    """The first error in the output of a compiler or linker: file, line, message and the text of the line. If the error is in another
    file, and the compiler names a line of `source` that leads to it, this line counts. If no line is named, the message is the end
    of the output."""
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
                # The lines before an error name the including files; the lines after it are notes of the compiler.
                next_error = next((later for later in range(number + 1, len(lines)) if " error: " in lines[later]), len(lines))
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
    """A line of a file without surrounding spaces; empty if there is no such line."""
    try:
        return path.read_text(errors="replace").splitlines()[number - 1].strip()
    except (OSError, IndexError):
        return ""
