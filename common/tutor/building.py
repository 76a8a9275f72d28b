"""Builds one source in the place of a stage's, by the commands that build the stage: no configuring, seconds in all."""

import dataclasses
import os
import pathlib
import re
import shlex
import subprocess

# Accesses are counted in code that is optimised, but not so far that vectors and unrolled loops hide what was written.
COUNTED = ["-O1", "-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0"]
COUNTER = "common/tutor/libcounted_accesses.a"  # what takes the sanitizer's place


class NotBuilt(Exception):
    """What the compiler said against a source."""


@dataclasses.dataclass(frozen=True)
class Places:
    """The repository and a directory in which Meson has configured it."""

    root: pathlib.Path
    build: pathlib.Path

    def named(self, path):
        """A path as people write it: from the root of the repository, if it is in there."""
        path = pathlib.Path(path)
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


def ninja(places, *arguments):
    """What ninja prints. NotBuilt where it fails, with the end of that."""
    ran = subprocess.run(["ninja", "-C", places.build, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", check=False)
    if ran.returncode != 0:
        raise NotBuilt(ran.stdout[-2000:])
    return ran.stdout


def there_is(places, target):
    """Whether the build directory knows how to build a target."""
    return subprocess.run(["ninja", "-C", places.build, "-t", "query", target], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def commands_of(places, target):
    """The commands that make a program of a stage's source, as lists of words: to rewrite it, if it is rewritten, to
    compile and to link it."""
    own = re.compile(rf"(?:^|[\s/]){re.escape(target)}(?:\.p/|\.cpp\s|\s)")
    lines = ninja(places, "-t", "commands", target).splitlines()
    return [shlex.split(line) for line in lines if own.search(line + " ") and "symbolextractor" not in line]


def instead(words, target, stage, source, out, places):
    """The words of such a command with another source, and with what it makes in another directory."""
    name = pathlib.PurePath(target).name
    true_source = os.path.relpath(stage.source, places.build)
    harness = places.build / "common" / "harness"
    for word in words:
        if word in ("-Werror", "-Xcompiler=-Werror", "-Werror=all-warnings"):
            continue  # what is half done may have variables that nothing uses yet
        if word == true_source:
            yield os.path.relpath(source, places.build)
        else:
            word = word.replace("$ORIGIN/../common/harness", str(harness))
            yield re.sub(rf"^(-I|-MF)?{re.escape(target)}(?=$|\.)", lambda match: (match[1] or "") + str(out / name), word)


def build(places, target, stage, source, out, counted=False):
    """The program that a source makes in the place of a stage's, in a directory of its own. NotBuilt where it cannot."""
    commands = commands_of(places, target)
    if not commands:
        raise NotBuilt(f"the build directory does not know '{target}'")
    program = out / pathlib.PurePath(target).name
    (out / (program.name + ".p")).mkdir(parents=True, exist_ok=True)
    for number, words in enumerate(commands, 1):
        words = list(instead(words, target, stage, source, out, places))
        links = number == len(commands)
        if not links:
            # What stands beside the stage is not beside the other source.
            words += [f"-I{stage.source.parent}"]
        if counted:
            words += [str(places.build / COUNTER), "-ldl"] if links else COUNTED
        ran = subprocess.run(words, cwd=places.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", check=False)
        if ran.returncode != 0:
            raise NotBuilt(ran.stdout)
    return program


def first_error(said, places):
    """The first error of a compiler or linker, with the line of the source that it names; the end of what was said, where it
    names none."""
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", said)
    lines = plain.splitlines()
    for number, line in enumerate(lines):
        found = re.match(r"(?P<file>[^\s:(]+)[:(](?P<line>\d+)(?::\d+|\))*: (?:fatal )?error:? *(?P<what>.*)", line)
        if found:
            path = pathlib.Path(os.path.normpath(places.build / found["file"]))
            return {"file": places.named(path), "line": int(found["line"]), "what": found["what"],
                    "source": line_of(path, int(found["line"]))}
        missing = re.search(r"undefined reference to .*|multiple definition of .*", line)
        if missing:
            return {"file": None, "line": None, "what": missing[0], "source": ""}
    return {"file": None, "line": None, "what": "\n".join(lines[-3:]), "source": ""}


def line_of(path, number):
    """A line of a file, without the space around it."""
    try:
        return path.read_text(errors="replace").splitlines()[number - 1].strip()
    except (OSError, IndexError):
        return ""
