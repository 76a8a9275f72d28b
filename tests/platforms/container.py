#!/usr/bin/env python3
"""Executes the commands of the Dockerfile and of the description for hosted editors in a bare root of Debian, without Docker.

Usage, as root: tests/platforms/container.py [--cache DIR] [-- COMMAND [ARGUMENT ...]]

The root is made by from_nothing.py. Each RUN line is executed by root and the files are copied as COPY says. Then the container's user
runs the command of CMD, the command that hosted editors run after they have made the container (postCreateCommand), and COMMAND if one is
given. The script ends with the exit status of from_nothing.py.
"""

import argparse
import json
import pathlib
import re
import shlex
import sys

import from_nothing

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The path to which from_nothing.py copies the checkout.
CHECKOUT = pathlib.PurePosixPath("/root", "staircase")


def instructions(text):
    """The instructions of a Dockerfile as pairs of keyword and text, with continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line.strip():
            keyword, _, rest = line.strip().partition(" ")
            yield keyword.upper(), rest.strip()


def plan(text):
    """The Debian suite of a Dockerfile, the lines of shell that root executes, its user, its directory, and the words of its command.
    Raises ValueError for an instruction that this script cannot execute."""
    suite = user = command = None
    directory, lines = "/", []
    for keyword, rest in instructions(text):
        if keyword == "FROM" and suite is None and re.fullmatch(r"debian:(\w+)(-slim)?", rest):
            suite = re.fullmatch(r"debian:(\w+)(-slim)?", rest)[1]
        elif keyword == "RUN" and user is None:
            lines.append(f"cd {directory} && {{ {rest}; }}")
        elif keyword == "COPY" and (words := shlex.split(rest)) and re.fullmatch(r"--chown=(\w+):\w+", words[0]) and words[1] == ".":
            owner = words[0].removeprefix("--chown=")
            lines.append(f"mkdir -p {words[2]} && cp --archive {CHECKOUT}/. {words[2]} && chown --recursive {owner} {words[2]}")
        elif keyword == "WORKDIR":
            directory = rest
        elif keyword == "USER" and user is None:
            user = rest
        elif keyword == "CMD":
            command = json.loads(rest)
        else:
            raise ValueError(f"this script cannot execute the instruction '{keyword} {rest}'")
    if None in (suite, user, command):
        raise ValueError("the Dockerfile needs FROM debian:SUITE, USER and CMD")
    return suite, lines, user, directory, command


def as_user(user, directory, line):
    """The command by which root lets the user run a line of shell in a directory. It contains no word "--", which would separate two
    commands of from_nothing.py."""
    words = ["runuser", "--user", user, "--", "env", f"HOME=/home/{user}", f"USER={user}", f"LOGNAME={user}",
             f"CCACHE_BASEDIR={directory}", "sh", "-c", f"cd {directory} && {line}"]
    return ["sh", "-c", shlex.join(words)]


def command_line(suite, lines, user, directory, run_by_user, cache):
    """The command line of from_nothing.py: root runs `lines`, then the user runs each line of `run_by_user` in the directory."""
    words = ["--suite", suite, *(["--cache", cache] if cache else [])]
    for line in lines:
        words += ["--prepare", line]
    for line in run_by_user:
        words += ["--", *as_user(user, directory, line)]
    return words


def main(arguments):
    """Runs the script; returns the exit status of from_nothing.py, or 2 for files that cannot be executed."""
    parser = argparse.ArgumentParser(prog="container.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", metavar="DIR", help="cache directory of from_nothing.py")
    own, commands = from_nothing.commands_of(arguments)
    options = parser.parse_args(own)
    try:
        suite, lines, user, directory, command = plan((ROOT / "Dockerfile").read_text())
    except ValueError as error:
        print(f"container: {error}", file=sys.stderr)
        return 2
    created = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())["postCreateCommand"]
    run_by_user = [shlex.join(command), created, *map(shlex.join, commands)]
    return from_nothing.main(command_line(suite, lines, user, directory, run_by_user, options.cache))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
