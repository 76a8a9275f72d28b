"""Tests the tarball of `meson dist`: dist_test.py ROOT BUILD MESON... Prints TAP.

The tarball contains the last commit. CI and packagers test whether the tarball builds and passes its tests; this test
checks its list of files.
"""

import json
import pathlib
import re
import subprocess
import sys
import tarfile

import tap

ROOT, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MESON = sys.argv[3:]
KINDS = {"", ".build", ".c", ".cff", ".cmake", ".cpp", ".css", ".csv", ".cu", ".cuh", ".h", ".hpp", ".html", ".in", ".ini",
         ".js", ".json", ".md", ".options", ".png", ".py", ".sh", ".svg", ".toml", ".txt", ".xml", ".yml"}
PROGRAMS = {"climb", ".ci/run", "tests/runner/launcher_test.sh", "tests/platforms/compilers.py", "tests/platforms/container.py",
            "tests/platforms/from_nothing.py", "common/cuda_on_cpu/tests/run.sh"}
MOST_BYTES = 500_000
# The Dockerfile names the home directory of the container's user.
OF_A_MACHINE = re.compile(rb"/(?:work|root|home)/(?!student\b)\w+")


def git(*arguments):
    """The output of git, as a list of lines."""
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()


def pack():
    """The files of a new tarball: its entries, by path, and their contents."""
    subprocess.run([*MESON, "dist", "-C", BUILD, "--no-tests", "--allow-dirty", "--formats", "gztar"], check=True,
                   capture_output=True)
    newest = max((BUILD / "meson-dist").glob("*.tar.gz"), key=lambda path: path.stat().st_mtime)
    with tarfile.open(newest) as tarball:
        return {entry.name.partition("/")[2]: (entry, tarball.extractfile(entry).read() if entry.isfile() else b"")
                for entry in tarball if entry.isfile() or entry.issym()}


def incomplete(files):
    """Yields files of the last commit that are omitted, additional files, and a wrong revision."""
    committed = set(git("ls-tree", "-r", "--name-only", "HEAD")) | {"revision.txt"}
    yield from (f"the tarball lacks {path}" for path in sorted(committed - set(files)))
    yield from (f"the tarball contains {path}, which is not in the commit" for path in sorted(set(files) - committed))
    revision = git("describe", "--always", "--exclude=*", "HEAD")[0]
    if "revision.txt" in files and files["revision.txt"][1].decode().strip() != revision:
        yield f"the tarball's revision is {files['revision.txt'][1]}, not {revision}"


def ignored():
    """Yields files that the build reads and that git ignores."""
    used = set(json.loads((BUILD / "meson-info" / "intro-buildsystem_files.json").read_text()))
    for target in json.loads((BUILD / "meson-info" / "intro-targets.json").read_text()):
        for group in target["target_sources"]:
            used.update(group.get("sources", []))
    used = {path for path in map(pathlib.Path, used) if path.is_relative_to(ROOT) and not path.is_relative_to(BUILD)}
    kept = set(git("ls-files", "--cached", "--others", "--exclude-standard"))
    if len(used) < 40:
        yield f"the build reads only {len(used)} files"
    yield from (f"git ignores {path}" for path in sorted({str(path.relative_to(ROOT)) for path in used} - kept))


def unwanted(files):
    """Yields files that do not belong in a tarball."""
    for path, (entry, content) in files.items():
        kind = pathlib.Path(path).suffix
        if kind not in KINDS or kind in (".png", ".svg") and not path.startswith(("docs/pictures/", "docs/theme/")):
            yield f"{path} has an unexpected file type"
        if entry.size > MOST_BYTES:
            yield f"{path} has {entry.size} bytes, more than {MOST_BYTES}"
        if not entry.issym() and bool(entry.mode & 0o111) != (path in PROGRAMS):
            yield f"{path} has the wrong mode {entry.mode:o}"
        found = OF_A_MACHINE.search(content)
        if found and path != "tests/dist_test.py":
            yield f"{path} contains the local path {found[0].decode()}"


def accepted_faults(files):
    """Yields unwanted files that the check accepts."""
    entry = tarfile.TarInfo()
    for path, content in (("screenshot.png", b""), ("stages/a.o", b""), ("a.md", b"see /home/" b"me"), ("a.json", b"0" * MOST_BYTES * 2)):
        entry.size, entry.mode = len(content), 0o644
        if not list(unwanted({path: (entry, content)})):
            yield f"{path} is accepted"
    entry.size, entry.mode = 1, 0o755
    if not list(unwanted({"a.py": (entry, b"")})):
        yield "an unexpected executable file is accepted"
    if not list(incomplete({path: file for path, file in files.items() if path != "README.md"})):
        yield "a missing file is accepted"


def main():
    """Prints one TAP line per check."""
    if subprocess.run(["git", "--git-dir", ROOT / ".git", "rev-parse", "HEAD"], capture_output=True).returncode != 0:
        tap.skip("this directory is not a git repository that git can read")
        return
    files = pack()
    tap.report((("the tarball contains exactly the files of the last commit, and its revision", incomplete(files)),
                ("git does not ignore any file that the build reads", ignored()),
                ("no file of the tarball has a wrong type, size or mode, or contains a local path", unwanted(files)),
                ("seeded faults are found", accepted_faults(files))))


main()
