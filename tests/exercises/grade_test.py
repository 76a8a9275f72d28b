"""Tests the command grade on submissions that are correct, wrong, hostile or not programs: grade_test.py ROOT BUILD.
Prints TAP."""

import csv
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import unicodedata

import confining
import grading
import tap
import workshop

ROOT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
STAGE = workshop.find(ROOT, "ata", "01")
OWN = STAGE.source.read_text()
BEGIN = '  timeline.begin("allocate");\n'
SECONDS = 90  # seconds of processor time, which do not depend on the load of the machine

# Goes beyond every limit, one after the other: uses the network, writes into the submission, and fills the disk.
HOSTILE = """
#include <arpa/inet.h>
#include <fstream>
#include <stdexcept>
#include <unistd.h>
static void misbehave() {{
  const int to = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{{AF_INET, htons({port}), {{htonl(INADDR_LOOPBACK)}}, {{}}}};
  (void)!connect(to, reinterpret_cast<sockaddr*>(&address), sizeof address);
  std::ofstream("{victim}", std::ios::app) << "changed";
  const std::string block(1 << 20, 'x');
  for (int file = 0;; ++file) {{
    std::ofstream out("{place}/" + std::to_string(file), std::ios::binary);
    for (int n = 0; n < 15; ++n) out << block;
  }}
}}
"""
FORKS = """
#include <unistd.h>
static void misbehave() {
  for (;;) (void)!fork();
}
"""


def changed(head, call):
    """The stage's own source with a function before it and a call at the begin of solve."""
    return OWN.replace("\nnamespace ata {", head + "\nnamespace ata {", 1).replace(BEGIN, BEGIN + call, 1)


def tutor(*words, **options):
    """The exit status, the standard output and the standard error of a command."""
    ran = subprocess.run([sys.executable, ROOT / "common" / "tutor", BUILD, *words], text=True, capture_output=True, check=False, **options)
    return ran.returncode, ran.stdout, ran.stderr


def refuses(words, fragment):
    """Yields the differences from a correct refusal: one sentence with the offending value, status 2, nothing else."""
    status, said, error = tutor(*words)
    if status != 2 or said or error.count("\n") != 1 or not error.startswith("climb: ") or fragment not in error:
        yield f"{' '.join(map(str, words))}: status {status}: {said}{error}"


def bad_input(directory):
    """Bad input is refused in one sentence before anything is built."""
    empty, file = directory / "nothing here", directory / "one file.cu"
    empty.mkdir()
    file.write_text(OWN)
    for words, fragment in (
            (["ata", "01"], "FILE"),
            (["atta", "01", file], "no workload 'atta'; choose from ata"),
            (["ata", "55", file], "no stage '55'; choose from 01_openmp"),
            (["ata", "0", file], "first stage of ata"),
            (["ata", "1", directory / "Müller.cu"], "Müller.cu' to grade"),
            (["ata", "1", empty], "nothing here' contains no file to grade"),
            (["ata", "1", file, "--time", "0"], "--time takes 5 to 3600 seconds, not '0'"),
            (["ata", "1", file, "--time", "soon"], "--time takes 5 to 3600 seconds, not 'soon'"),
            (["ata", "1", file, "--memory", "-1"], "--memory takes 256 to 1048576 MiB, not '-1'"),
            (["ata", "1", file, "--file-size", "1e9"], "--file-size takes 16 to 65536 MiB, not '1e9'"),
            (["ata", "1", file, "--csv", "-", "--json", "-"], "only one of --csv and --json"),
            (["ata", "1", directory, "--csv", directory / "result.csv"], "lies among the submissions"),
            (["ata", "1", file, "--json", directory / "not there" / "result.json"], "cannot be written"),
            (["ata", "1", file, "--fast"], "--fast")):
        yield from refuses(["grade", *words], fragment)


def tables(_):
    """Names, messages and counters appear in the table, in CSV and in JSON, whatever characters they contain."""
    steps = [{"name": "compiles", "passed": True, "says": []}, {"name": "agrees", "passed": False, "says": ["element (0, 0) is \x1b[2J5"]}]
    rows = [grading.Row("Jörg Ω.cu", steps, remarks=["a remark"], hints=2, solution_seen=True),
            grading.Row("=1+1.cu", problem="not checked: it is empty"),
            grading.Row("all.cu", [{"name": name, "passed": None if name == "clean" else True, "says": [],
                                    "counters": {"regions": {"yours": 3}} if name == "optimised" else {}} for name in grading.STEPS])]
    text = grading.table_text(rows, ["regions"])
    for fragment in ("Jörg Ω.cu   no", "2, solution seen", "agrees: element (0, 0) is  [2J5", "remark: a remark", "1 of 3 passed",
                     "not checked: it is empty"):
        if fragment not in text:
            yield f"'{fragment}' is not in the table: {text}"
    if "\x1b" in text:
        yield "a control character reaches the terminal"
    cells = list(csv.DictReader(grading.csv_text(rows, ["regions"]).splitlines()))
    if [cell["name"] for cell in cells] != ["Jörg Ω.cu", "'=1+1.cu", "all.cu"] or cells[2]["regions"] != "3" or cells[2]["passed"] != "yes":
        yield f"CSV is {cells}"
    whole = json.loads(grading.json_text(rows, STAGE, confining.Limits()))
    if [row["passed"] for row in whole["submissions"]] != [False, False, True] or whole["submissions"][0]["hints"] != 2:
        yield f"JSON is {whole}"


def names_and_texts(directory):
    """Files that are no programs, links, and files that cannot be read are named with the reason; other files are read."""
    place = directory / "any names"
    place.mkdir()
    (place / "sub directory").mkdir()
    cases = {"pdf": (b"%PDF\x00\x01", "no text file: byte 4 is 0"), "leer.cu": (b" \n", "it is empty"),
             "groß.cu": (b"x" * (grading.LARGEST + 1), "bytes, and a program has at most"), "sub directory/ümlaut.cu": (OWN.encode(), None),
             "latin": ("// für\n".encode("latin-1"), None)}
    for name, (data, _) in cases.items():
        (place / name).write_bytes(data)
    (place / ".hidden").write_text("hidden")
    (place / "progress.json").write_text("{}")
    (place / "link.cu").symlink_to(place / "leer.cu")
    os.mkfifo(place / "pipe")
    found = dict(grading.submissions_of([place]))
    if set(found) != {*cases, "link.cu", "pipe"}:
        yield f"found {sorted(found)}"
    expected = {name: fragment for name, (_, fragment) in cases.items()} | {"link.cu": "symbolic link", "pipe": "no regular file"}
    for name, fragment in expected.items():
        try:
            grading.text_of(found[name], False)
            said = None
        except grading.NotRead as why:
            said = str(why)
        if (said is None) != (fragment is None) or fragment and fragment not in said:
            yield f"{name}: {said}"
    if grading.printable("a\x1b[2Jb\n.cu") != "a\\x1b[2Jb\\x0a.cu" or unicodedata.name(grading.printable("ü")) != \
            "LATIN SMALL LETTER U WITH DIAERESIS":
        yield "names with control characters are printed as they are"


def origins(_):
    """A remark names code that is the stage's own, unchanged, equal to an earlier submission, or included."""
    earlier = {}
    for name, text, fragment in (("a", OWN, "the code of 01_openmp itself"), ("b", "// b\n" + STAGE.before.source.read_text(), "unchanged"),
                                 ("c", "int x;  // mine", ""), ("d", "/* stolen */\n  int x;\n", "the same as in c"),
                                 ("e", '#include "../01_openmp/openmp.cpp"\n', "it includes another program")):
        said = list(grading.remarks_of(name, text, STAGE, earlier))
        if (fragment not in " ".join(said)) if fragment else said:
            yield f"{name}: {said}"


def progress(directory):
    """Hints and a solution that was shown are taken from a record of progress next to a working copy, and only from there."""
    copy = directory / "anna" / "ata" / "01_openmp" / "openmp.cpp"
    copy.parent.mkdir(parents=True)
    if grading.progress_of(copy, STAGE) != (None, None) or grading.progress_of(directory / "openmp.cpp", STAGE) != (None, None):
        yield "progress without a record"
    for text, expected in (('{"hints": 3, "solution": "2026-11-30"}', (3, True)), ("{}", (0, False)), ("[1]", (None, None)),
                           ('{"hints": "x"}', (None, None))):
        copy.with_name("progress.json").write_text(text)
        if grading.progress_of(copy, STAGE) != expected:
            yield f"{text}: {grading.progress_of(copy, STAGE)}"


def kept(place):
    """The contents and times of all files of a directory."""
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(place.rglob("*")) if path.is_file()}


def grades(directory):
    """Each submission gets its row, hostile ones included; nothing of them is changed, connects, or remains."""
    place, builds = directory / "Abgaben Übung 1", directory / "builds"
    place.mkdir()
    builds.mkdir()
    right = place / "Jörg Müller – 2. Versuch.cpp"
    right.write_text(OWN.replace("factor", "each"))
    (place / "not compiled.txt").write_text(OWN.replace("return c;", "return c"))
    (place / "wrong.cpp").write_text(OWN.replace("c(i, j) = 0", "c(i, j) = 1"))
    (place / "forks.cpp").write_text(changed(FORKS, "  misbehave();\n"))
    (place / "archive.zip").write_bytes(b"PK\x03\x04\x00")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        hostile = HOSTILE.format(port=server.getsockname()[1], victim=right, place="\" + std::string(getenv(\"TMPDIR\")) + \"")
        (place / "hostile.cpp").write_text(changed(hostile, "  misbehave();\n"))
        before, results = kept(place), directory / "result.csv"
        status, said, error = tutor("grade", "ata", "1", place, "--json", "-", "--csv", results, "--time", str(SECONDS),
                                    "--file-size", "16", env=os.environ | {"TMPDIR": str(builds)})
        try:
            server.accept()
            connected = True
        except BlockingIOError:
            connected = False
    confined = "can use the network" not in error
    if confined and connected:
        yield "a submission used the network"
    if kept(place) != before:
        yield "a submission was changed"
    if list(builds.iterdir()):
        yield f"builds remain: {list(builds.iterdir())}"
    if status != 1 or not said:
        yield f"status {status}: {said}{error}"
        return
    rows = {row["name"]: row for row in json.loads(said)["submissions"]}
    expected = {right.name: "", "not compiled.txt": "compiles: not compiled.txt:", "wrong.cpp": "agrees: ", "archive.zip": "no text file",
                "forks.cpp": "stopped ", "hostile.cpp": "stopped because its files took more than 128 MiB"}
    if set(rows) != set(expected):
        yield f"rows: {sorted(rows)}"
    for name, row in rows.items():
        if row["passed"] != (not expected[name]) or expected[name] not in " ".join(row["reasons"]):
            yield f"{name}: {row}"
    if "staircase-grade" in said:
        yield f"a temporary path is shown: {said}"
    if rows[right.name]["counts"].get("regions", 0) == 0:
        yield f"no counts: {rows[right.name]}"
    if len(list(csv.DictReader(results.read_text().splitlines()))) != len(expected):
        yield f"CSV is {results.read_text()}"
    if grading.descendants():
        yield "processes remain"


def interrupted(directory):
    """An interrupted command leaves neither builds nor processes behind."""
    builds = directory / "builds of an interrupted command"
    builds.mkdir()
    (directory / "a.cpp").write_text(OWN)
    running = subprocess.Popen([sys.executable, ROOT / "common" / "tutor", BUILD, "grade", "ata", "1", directory / "a.cpp"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(builds)})
    if not any("itself" in line for line in running.stderr):
        yield f"the command ended before the submission ran: status {running.wait()}"
        return
    running.send_signal(signal.SIGTERM)
    running.communicate()
    if running.returncode != 128 + signal.SIGTERM or list(builds.iterdir()):
        yield f"status {running.returncode}, {list(builds.iterdir())}"


def kinds(directory):
    """Each kind of confinement that works here ends a program that exceeds the size of a file, and a sentence names what is missing."""
    place = directory / "kinds"
    place.mkdir()
    limits = confining.Limits(files=16)
    working = [kind for kind in confining.SHELLS if confining.works(confining.Confinement(kind, place, limits))]
    if "limits" not in working:
        yield "not even the limits of resources work here"
    for kind in working:
        confinement = confining.Confinement(kind, place, limits)
        if confining.works(confinement, ["dd", "if=/dev/zero", f"of={place / kind}", "bs=1M", "count=17"]):
            yield f"{kind}: a file of 17 MiB was written"
        if confining.works(confinement, ["touch", ROOT / "climb"]) and kind == "bubblewrap":
            yield "bubblewrap lets a program change the repository"
        if os.getuid() == 0 and confining.works(confinement, ["test", "-w", ROOT / "climb"]):
            yield f"{kind}: a program runs as root"
        if bool(confining.sentence(kind)) == (kind == "bubblewrap"):
            yield f"{kind}: {confining.sentence(kind)}"


def is_hidden():
    """Whether the build directory is unreadable for the user nobody, who runs submissions if root starts the command,
    as in /root."""
    return os.getuid() == 0 and subprocess.run([*confining.as_nobody(), "test", "-r", BUILD / "build.ninja"], check=False).returncode != 0


if is_hidden():
    tap.skip(f"the user nobody cannot read {BUILD}")
    sys.exit()
with tempfile.TemporaryDirectory() as scratch:
    os.chmod(scratch, 0o755)  # for the user nobody, if root runs this test
    tap.report([(check.__doc__, check(pathlib.Path(scratch).resolve())) for check in
                (bad_input, tables, names_and_texts, origins, progress, kinds, interrupted, grades)])
