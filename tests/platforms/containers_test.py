"""Tests the files for containers, hosted editors and code hosts: containers_test.py ROOT. Prints TAP.

The workflows are validated against the published schemas by check-jsonschema. The commands that these files contain are compared with
those of ./climb and of the README, so that a change of a command line cannot be forgotten in these files.
tests/platforms/container.py executes the commands of the Dockerfile in a bare root.
"""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import tap
from platforms import container, from_nothing

ROOT = pathlib.Path(sys.argv[1]).resolve()
WORKFLOWS = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ROOT / "common" / "slicer" / "workflow.yml"]
VALIDATOR = shutil.which("check-jsonschema", path=str(pathlib.Path(sys.executable).parent)) or shutil.which("check-jsonschema")


def validated(schema, paths):
    """Yields the errors that a validator reports for some files and a published schema."""
    ran = subprocess.run([VALIDATOR, "--builtin-schema", schema, *paths], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        yield ran.stdout + ran.stderr


def invalid_files():
    """Yields files that a published schema refuses, and a broken file that it accepts."""
    if not WORKFLOWS:
        yield "the repository has no workflow"
    yield from validated("vendor.github-workflows", WORKFLOWS)
    yield from validated("custom.github-workflows-require-timeout", WORKFLOWS)
    yield from validated("vendor.citation-file-format", [ROOT / "CITATION.cff"])
    if not list(validated("vendor.github-workflows", [ROOT / "CITATION.cff"])):
        yield "the schema of workflows accepts CITATION.cff"


def readme_commands():
    """The two commands of the README."""
    section = re.search(r"\n## Two commands\n(.*?)\n## ", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    return re.findall(r"\n```\n(.*)\n```\n", section)


def other_commands():
    """Yields commands in workflows and container files that ./climb does not have, and commands of the README that CI
    does not run."""
    forms = set(re.findall(r"^ +(?:Usage: )?\./climb (?:\[SETUP\] |\[--yes\] )?([a-z]+)", subprocess.run(
        [ROOT / "climb", "--help"], capture_output=True, text=True, check=True).stdout, re.MULTILINE))
    files = [*WORKFLOWS, ROOT / "Dockerfile", ROOT / ".devcontainer" / "devcontainer.json"]
    for path in files:
        for words in re.findall(r"\./climb((?: +[-\w]+)*)", re.sub(r"(?m)^#.*", "", path.read_text())):
            form = [word for word in words.split() if word != "--yes"]
            if form and not form[0].startswith("--") and form[0] not in forms:
                yield f"{path.relative_to(ROOT)}: ./climb has no command '{form[0]}'"
    runs = re.findall(r"^ +run: (\./climb.*)$", (ROOT / ".github/workflows/ci.yml").read_text(), re.MULTILINE)
    if runs != readme_commands() or len(runs) != 2:
        yield f"ci.yml runs {runs}, and the README shows {readme_commands()}"
    if not re.search(r"^run \./climb test$", (ROOT / ".ci/run").read_text(), re.MULTILINE):
        yield ".ci/run does not run ./climb test, the test command of the README"


def wrong_devcontainer():
    """Yields errors in the description of the container for hosted editors."""
    path = ROOT / ".devcontainer" / "devcontainer.json"
    described = json.loads(path.read_text())
    if not (path.parent / described["build"]["dockerfile"]).resolve().samefile(ROOT / "Dockerfile"):
        yield "devcontainer.json names another file than the Dockerfile"
    if not (path.parent / described["build"]["context"]).resolve().samefile(ROOT):
        yield "the build context in devcontainer.json is not the root of the repository"
    user = re.findall(r"^USER (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    if user != [described["remoteUser"]] or described["remoteUser"] == "root":
        yield f"the user in devcontainer.json is {described['remoteUser']}, and in the Dockerfile {user}"


def wrong_commands():
    """Yields commands of container.py that from_nothing.py would split differently, or that root would run instead of
    the user."""
    suite, lines, user, directory, command = container.plan((ROOT / "Dockerfile").read_text())
    run_by_user = [shlex.join(command), "true && false", "echo -- 'two words'"]
    words = container.command_line(suite, lines, user, directory, run_by_user, "a cache")
    options, commands = from_nothing.commands_of(words)
    if options != ["--suite", suite, "--cache", "a cache", *(word for line in lines for word in ("--prepare", line))]:
        yield f"from_nothing.py would read the options {options}"
    if len(commands) != len(run_by_user):
        yield f"from_nothing.py would split {len(run_by_user)} lines into {len(commands)} commands: {commands}"
    for line, (shell, option, script) in zip(run_by_user, commands):
        words = shlex.split(script)
        if (shell, option) != ("sh", "-c") or words[:4] != ["runuser", "--user", user, "--"] or words[-1] != f"cd {directory} && {line}":
            yield f"the user would not run '{line}', but {script}"


def copied_builds():
    """Yields directories that git ignores and that would be copied into the container."""
    ignored = (ROOT / ".dockerignore").read_text().split()
    for name in ("build*", "exercises", ".venv", ".climb.log"):
        if name not in ignored:
            yield f".dockerignore lacks {name}"


CHECKS = [("workflows run the README's commands, and all files use existing commands of ./climb", other_commands),
          ("hosted editors build the Dockerfile and run as its unprivileged user", wrong_devcontainer),
          ("container.py runs each command of the Dockerfile as the unprivileged user", wrong_commands),
          ("build directories are not copied into the container", copied_builds)]
if VALIDATOR:
    CHECKS.append(("the published schemas accept the workflows and CITATION.cff", invalid_files))
    tap.report((title, check()) for title, check in CHECKS)
else:
    checks = [(title, check()) for title, check in CHECKS]
    tap.report([*checks, ("the published schemas accept the workflows and CITATION.cff "
                          "# SKIP check-jsonschema is not installed", [])])
