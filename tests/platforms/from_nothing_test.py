"""Tests the command line of from_nothing.py, how it reads a machine's configuration, and its copy of the checkout:
from_nothing_test.py. Needs no root privileges and creates no bare root. Prints TAP."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

import tap
from platforms import from_nothing

SCRIPT = pathlib.Path(from_nothing.__file__)
DEB822 = """\
# A comment.
Types: deb deb-src
URIs: https://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: https://mirror.example/security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: https://disabled.example
Suites: bookworm
Components: main
"""
ONE_LINE = """\
# deb https://commented.example bookworm main
deb [arch=amd64 signed-by=/a/key.gpg] https://vendor.example/apt bookworm tools
deb-src https://sources.example bookworm main
deb file:/media/disk bookworm main
"""
APT_OPTIONS = """\
APT::Architecture "amd64";
Acquire "";
Acquire::http::Proxy "http://proxy.example:3128";
Acquire::https::CaInfo "/etc/ssl/own.pem";
Acquire::http::Proxy-Auto-Detect "/usr/bin/detect";
Acquire::Languages:: "none";
Acquire::Retries "3";
DPkg::Post-Invoke:: "/usr/bin/touch /tmp/hook";
"""


def run(*arguments, **options):
    """The exit status and the output of the script."""
    ran = subprocess.run([sys.executable, SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         stdin=subprocess.DEVNULL, check=False, **options)
    return ran.returncode, ran.stdout


def refusals(folder):
    """Yields wrong command lines that are not refused with status 2 and the reason."""
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()
    for arguments, reason in (((), "which command is to run"), (("--user",), "which command is to run"),
                              (("--",), "followed by no command"), (("--", "a", "--"), "followed by no command"),
                              (("--suite", "sid", "--", "a"), "invalid choice: 'sid'"),
                              (("--suite", "trixie", "--alternate", "--", "a"), "not allowed with"),
                              (("--include", "g++,No", "--", "a"), "'No' is not the name"),
                              (("--include", "g++,", "--", "a"), "'' is not the name"),
                              (("--keep", folder / "full", "--", "a"), "is not empty"),
                              (("--keep", folder / "full" / "file", "--", "a"), "is a file"),
                              (("--cache", folder / "a b", "--", "a"), "paths without spaces"),
                              (("./climb",), "unrecognized arguments"), (("--altern", "--", "a"), "unrecognized arguments")):
        status, output = run(*arguments)
        if status != 2 or reason not in output:
            yield f"{arguments}: the exit status is {status}, and the output is {output}"


def help_is_printed():
    """Yields options that --help does not describe."""
    status, output = run("--help")
    if status != 0:
        yield f"--help ends with status {status}"
    yield from (f"--help does not describe {option}" for option in (
        "--suite", "--alternate", "--user", "--include", "--prepare", "--cache", "--keep", "77") if option not in output)


def unavailable(folder):
    """Yields missing programs that are not reported in one line with status 77."""
    (folder / "tools").mkdir()
    (folder / "tools" / "git").symlink_to(shutil.which("git"))
    status, output = run("--cache", folder / "cache", "--", "./climb", env={"PATH": str(folder / "tools"), "HOME": str(folder)})
    reason = "is missing; install the package" if os.geteuid() == 0 else "needs root rights"
    if status != from_nothing.UNAVAILABLE or output.count("\n") != 1 or reason not in output:
        yield f"the exit status is {status}, and the output is {output}"
    if (folder / "cache").exists():
        yield "the script creates the cache directory although it cannot run"


def options_are_read(folder):
    """Yields options and commands that are read wrongly."""
    options = from_nothing.parse(["--suite", "bookworm", "--user", "--include", "sudo,g++", "--prepare", "a b", "--prepare", "c",
                                  "--cache", str(folder), "--keep", str(folder / "new"), "--", "./climb", "--", "./climb",
                                  "test", "--quick"])
    expected = {"suite": "bookworm", "alternate": False, "user": True, "include": ["sudo", "g++"], "prepare": ["a b", "c"],
                "cache": folder, "keep": folder / "new", "commands": [["./climb"], ["./climb", "test", "--quick"]]}
    if vars(options) != expected:
        yield f"the options are read as {vars(options)}"
    again = json.loads(json.dumps(vars(options), default=str))
    if again["commands"] != expected["commands"] or again["include"] != expected["include"]:
        yield f"the inner process reads {again}"


def configuration_is_read(folder):
    """Yields sources, options of apt, certificates and variables that are read wrongly."""
    (folder / "apt" / "sources.list.d").mkdir(parents=True)
    (folder / "apt" / "sources.list").write_text(ONE_LINE)
    (folder / "apt" / "sources.list.d" / "debian.sources").write_text(DEB822)
    entries = list(from_nothing.sources(folder / "apt"))
    mirror, text = from_nothing.sources_of_root("trixie", entries, "bookworm")
    expected = ("deb https://mirror.example/debian trixie main\ndeb https://mirror.example/debian trixie-updates main\n"
                "deb https://mirror.example/security trixie-security main\n")
    if mirror != "https://mirror.example/debian" or text != expected:
        yield f"the mirror is read as {mirror}, and the sources of the root are {text}"
    for own in (None, "bullseye"):
        if from_nothing.sources_of_root("trixie", entries, own) != (None, None):
            yield f"a mirror is found on a machine of {own}"
    options = from_nothing.options_of_apt(APT_OPTIONS).splitlines()
    if options != [line for line in APT_OPTIONS.splitlines() if "Proxy \"" in line or "CaInfo" in line or "Retries" in line]:
        yield f"the options of apt are read as {options}"
    one, two = (f"-----BEGIN CERTIFICATE-----\n{letter}/+=\n-----END CERTIFICATE-----" for letter in "AB")
    if from_nothing.certificates(f"# a name\n{one}\n{two}\n") != [one, two]:
        yield "two certificates in one file are not separated"
    variables = from_nothing.handed_over({"https_proxy": "p", "NO_PROXY": "n", "PIP_CERT": "/a/b.pem", "PIP_FIND_LINKS": "/wheels",
                                          "PIP_INDEX_URL": "i", "STAIRCASE_TEST_SEED": "1", "CXX": "clang++", "PATH": "/x"})
    if variables != {"https_proxy": "p", "NO_PROXY": "n", "PIP_CERT": from_nothing.CERTIFICATES, "PIP_INDEX_URL": "i",
                     "STAIRCASE_TEST_SEED": "1"}:
        yield f"commands in the root get the variables {variables}"
    release = folder / "os-release"
    for text, name in (('ID=debian\nVERSION_CODENAME=bookworm\n', "bookworm"), ('ID="ubuntu"\nVERSION_CODENAME=noble\n', None)):
        release.write_text(text)
        if from_nothing.codename(release) != name:
            yield f"the codename is read as {from_nothing.codename(release)}"


def repository(folder):
    """A git repository with two commits, and with uncommitted changes, untracked files and ignored files."""
    def git(*arguments):
        subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false",
                        *arguments], check=True, capture_output=True)

    folder.mkdir()
    git("init", "--quiet")
    files = {"kept": b"kept\n", "changed with ä": b"before\n", "deleted": b"x\n", "program": b"#!/bin/sh\n", "picture": bytes(range(256)),
             ".gitignore": b"/build/\n"}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    git("add", ".")
    git("commit", "--quiet", "--message=first")
    (folder / "kept").write_bytes(b"kept \t\n")
    git("commit", "--quiet", "--all", "--message=second")
    (folder / "changed with ä").write_bytes(b"after, without an end of line")
    (folder / "deleted").unlink()
    (folder / "program").chmod(0o755)
    (folder / "picture").write_bytes(bytes(range(255, -1, -1)))
    (folder / "staged").write_bytes(b"trailing blanks  \n")
    git("add", "staged")
    (folder / "untracked").touch()
    (folder / "build").mkdir()
    (folder / "build" / "object").touch()


def copy_is_right(folder):
    """Yields files that the copy of a checkout lacks, and files that it should not contain."""
    source, copy = folder / "source ü", folder / "copy"
    repository(source)
    from_nothing.copy_checkout(source, copy)
    names = {path.name for path in copy.iterdir()} - {".git"}
    if names != {"kept", "changed with ä", "program", "picture", "staged", ".gitignore"}:
        yield f"the copy contains {sorted(names)}"
    yield from (f"the copy of '{name}' differs"
                for name in names if (copy / name).read_bytes() != (source / name).read_bytes())
    if not (copy / "program").stat().st_mode & stat.S_IXUSR:
        yield "the copy of a program is not executable"
    heads = [subprocess.run(["git", "-C", where, "rev-parse", "HEAD"], capture_output=True, check=True).stdout
             for where in (source, copy)]
    if heads[0] != heads[1]:
        yield "the copy has another last commit"
    if from_nothing.suite_by_parity(source) != "bookworm":
        yield "an even number of commits does not choose bookworm"
    subprocess.run(["git", "-C", source, "reset", "--quiet", "--hard", "HEAD~1"], check=True)
    if from_nothing.suite_by_parity(source) != "trixie":
        yield "an odd number of commits does not choose trixie"
    from_nothing.copy_checkout(source, folder / "clean copy")
    try:
        from_nothing.suite_by_parity(folder)
        yield "--alternate chooses a suite in a folder without commits"
    except from_nothing.Failure as failure:
        if "--suite" not in str(failure):
            yield f"the message does not name --suite: {failure}"


def table_is_right():
    """Yields wrong lines of the table, and wrong durations."""
    rows = [("trixie", "./climb", from_nothing.outcome(0, None), from_nothing.in_words(59.6)),
            ("trixie", "x " * 60, from_nothing.outcome(-9, None), from_nothing.in_words(5)),
            ("trixie", "./climb test", from_nothing.outcome(1, ("3", "1", "0")), from_nothing.in_words(125))]
    lines = from_nothing.table(rows)
    for fragment, line in zip(("suite   command", "./climb", "failed, signal 9", "3 passed, 1 failed, 0 skipped, exit status 1"), lines):
        if fragment not in line:
            yield f"the line lacks '{fragment}': {line}"
    if len({len(line) for line in lines}) != 1 or len(lines[0]) > 130:
        yield f"the lines of the table have the lengths {[len(line) for line in lines]}"
    for time, line in zip(("1 min 00 s", "  5 s", "2 min 05 s"), lines[1:]):
        if not line.endswith(time):
            yield f"the line does not end with '{time}': {line}"


def output_is_passed_on():
    """Yields commands whose exit status or last line is lost, including a command that leaves a process behind."""
    for command, expected in ((["sh", "-c", "echo '1..0 # skipped'; echo 2 passed, 0 failed, 0 skipped; exit 3"],
                               (3, "2 passed, 0 failed, 0 skipped")),
                              (["sh", "-c", "echo last; sleep 30 & exit 0"], (0, "last")), (["true"], (0, ""))):
        # The command's output must not be mixed with the TAP of this test.
        with tempfile.TemporaryFile() as file:
            saved = os.dup(1)
            sys.stdout.flush()
            os.dup2(file.fileno(), 1)
            try:
                found = from_nothing.run_command(command)
            finally:
                os.dup2(saved, 1)
                os.close(saved)
        if found != expected:
            yield f"the status and the last line of {command} are {found}, not {expected}"


def main():
    """Prints one TAP line per check."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tap.report((("wrong command lines are refused with status 2 and the reason", refusals(folder)),
                    ("--help describes every option", help_is_printed()),
                    ("a missing program or right is reported in one line with status 77", unavailable(folder)),
                    ("the command line is split into options and commands", options_are_read(folder)),
                    ("the root gets the mirrors, options of apt, certificates and variables of the machine",
                     configuration_is_read(folder)),
                    ("the copy of the checkout contains uncommitted changes and no untracked files", copy_is_right(folder)),
                    ("the table is aligned, and shows outcomes and durations", table_is_right()),
                    ("the exit status and the last line of each command are returned", output_is_passed_on())))


main()
