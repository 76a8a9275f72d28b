"""Tests the commands exercise, check, hint and solution on working copies of this test: tutor_test.py ROOT BUILD.
Prints TAP."""

import hashlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

import tap

ROOT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
STAGES = ROOT / "stages" / "ata"


# For checks that terminate: the load of the machine must not change the answer.
UNLIMITED = ("--seconds", "3600")


def tutor(*words, copies, **options):
    """The exit status, the standard output and the standard error of a command."""
    if words[0] == "check" and "--seconds" not in words and len(words) > 2:
        words = (*words, *UNLIMITED)
    ran = subprocess.run([sys.executable, ROOT / "common" / "tutor", BUILD, *words, "--copies", copies], text=True,
                         capture_output=True, check=False, **options)
    return ran.returncode, ran.stdout, ran.stderr


def refuses(copies, words, fragment, **options):
    """Yields the differences from a correct refusal: one sentence, status 2, nothing else."""
    status, said, error = tutor(*words, copies=copies, **options)
    if status != 2 or said or error.count("\n") != 1 or not error.startswith("climb: ") or fragment not in error:
        yield f"{' '.join(words)}: status {status}: {said}{error}"


def expects(copies, words, status, *fragments):
    """Yields the differences of a command's status and output from the expected ones."""
    ran, said, error = tutor(*words, copies=copies)
    if ran != status or error:
        yield f"{' '.join(words)}: status {ran}: {error}"
    yield from (f"{' '.join(words)}: '{fragment}' is not in: {said}" for fragment in fragments if fragment not in said)


def bad_input(copies):
    """A command that cannot be carried out reports the reason in one sentence."""
    yield from refuses(copies, ["exercise", "atta", "04"], "no workload 'atta'; choose from ata, local_volatility")
    yield from refuses(copies, ["exercise", "ata", "44"], "no stage '44'; choose from 01_openmp")
    yield from refuses(copies, ["exercise", "ata", "00"], "first stage of ata")
    yield from refuses(copies, ["exercise", "ata"], "exercise takes a workload and a stage")
    yield from refuses(copies, ["check", "ata"], "check takes a workload and a stage")
    yield from refuses(copies, ["check", "warm_up"], "./climb exercise warm_up creates one")
    yield from refuses(copies, ["check", "warm_up", "4"], "no workload 'warm_up'")
    yield from refuses(copies, ["check", "ata", "05"], "./climb exercise ata 05_unrolled creates one")
    yield from refuses(copies, ["hint", "ata", "05"], "no working copy")
    yield from refuses(copies, ["solution", "ata", "05"], "no working copy")
    yield from refuses(copies, ["check", "ata", "05", "--fast"], "--fast")
    yield from refuses(copies, ["check", "ata", "05", "--seconds", "0"], "--seconds takes 1 to 86400, not '0'")
    yield from refuses(copies, ["check", "ata", "05", "--seconds", "soon"], "--seconds takes 1 to 86400, not 'soon'")


def copy_is_made(copies):
    """A working copy is the stage before, under a comment of its own, and is not overwritten."""
    yield from expects(copies, ["exercise", "ata", "tiled"], 0, "starts with the code of 03_naive_cuda",
                       "./climb check ata 04_tiled")
    source = copies / "ata" / "04_tiled" / "tiled.cu"
    text = source.read_text()
    for fragment in ("/// Task:    Share tiles of A through shared memory.", "/// Hint:", '.title = "Tiled"'):
        if fragment not in text:
            yield f"'{fragment}' is not in the working copy"
    source.write_text("mine")
    yield from refuses(copies, ["exercise", "ata", "04"], "exists already; --force")
    if source.read_text() != "mine":
        yield "the working copy was overwritten"
    yield from expects(copies, ["exercise", "ata", "04", "--force"], 0, "starts with the code of")
    if source.read_text() != text:
        yield "--force did not start again"
    yield from refuses(copies, ["check", "ata", "04", "--json", "--watch"], "exclude each other")
    yield from refuses(copies, ["hint", "ata", "04", "--level", "9"], "--level takes 1 to 4, not 9")
    yield from refuses(copies, ["check", "ata", "04"], "'ninja' was not found", env={"PATH": "/nowhere"})


def checks(copies):
    """A check of the stage before finds what is missing, in words and as JSON; one of the stage's own source passes."""
    yield from expects(copies, ["check", "ata", "04"], 1, "nothing has changed yet", "requests to load from global memory: "
                                                                                     "38 610")
    status, said, _ = tutor("check", "ata", "04", "--json", copies=copies)
    answer = json.loads(said)
    steps = {step["name"]: step["passed"] for step in answer["steps"]}
    if status != 1 or answer["passed"] or steps != {"compiles": True, "agrees": True, "clean": True, "optimised": False}:
        yield f"status {status}: {said}"
    if answer["steps"][3]["counters"]["global_loads"]["yours"] != 38610 or answer["progress"]["checks"] != 2:
        yield f"counters or progress are wrong: {said}"
    (copies / "ata" / "04_tiled" / "tiled.cu").write_text((STAGES / "04_tiled" / "tiled.cu").read_text())
    yield from expects(copies, ["check", "ata", "04"], 0, "Done.", "2 754 (stage: 2 754, previous stage: 38 610)")


def running_from(source):
    """The command lines of running programs that a check of a working copy has built."""
    place, lines = hashlib.sha256(str(source).encode()).hexdigest()[:12], []
    for process in pathlib.Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            state = (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except (OSError, IndexError):
            continue
        if place in pathlib.Path(command[0]).parts and state != "Z":
            lines.append(" ".join(command))
    return lines


def ends_in_time(copies):
    """A loop that never ends is stopped at the time limit; the answer names the test case, and no process remains."""
    source = copies / "ata" / "04_tiled" / "tiled.cu"
    kept = source.read_text()
    source.write_text(kept.replace("m < min(tile, rows - k0); ++m", "m < min(tile, rows - k0); m += 0"))
    status, said, error = tutor("check", "ata", "04", "--seconds", "5", copies=copies)
    source.write_text(kept)
    for fragment in ("did not end within", "smallest (rows = 1, cols = 1)", "that never ends?"):
        if status != 1 or error or fragment not in said:
            yield f"status {status}, '{fragment}' is not in: {said}{error}"
    if running := running_from(source):
        yield f"still running: {running}"


def helps(copies):
    """Hints come one by one, and the solution is a diff; progress is kept and shown."""
    source = copies / "ata" / "04_tiled" / "tiled.cu"
    own = source.read_text()
    source.write_text((STAGES / "03_naive_cuda" / "naive_cuda.cu").read_text())
    for number, fragment in ((1, "2 754 in your last check, 2 754 in the stage"), (2, "The idea"),
                             (3, "`__shared__` declares"), (4, "in [multiply]"), (4, "if (…) a_i[…][…] = …;")):
        yield from expects(copies, ["hint", "ata", "04"], 0, fragment, f"Hint {number} of 4.")
    yield from expects(copies, ["hint", "ata", "04", "--level", "1"], 0, "Expected effect")
    yield from expects(copies, ["hint", "ata", "04", "--level", "4"], 0, "Lines to change in ", "tiled.cu:",
                       "lines of code to remove")
    source.write_text(own)
    yield from expects(copies, ["hint", "ata", "04", "--level", "4"], 0, "already has all lines")
    if tutor("solution", "ata", "04", copies=copies)[1]:
        yield "the stage's own source differs from the solution"
    source.write_text(own.replace("__syncthreads();", ""))
    yield from expects(copies, ["solution", "ata", "04"], 0, "+    __syncthreads();")
    yield from expects(copies, ["exercise", "--list"], 0, "04_tiled", "(4 checks, 4 hints, solution seen)", "1 of ",
                       " done\n")


def warm_up(copies):
    """The warm-up is a program with gaps: unchanged it has no kernel, the program without gaps passes, and errors are
    named."""
    source = copies / "warm_up" / "add.cu"
    yield from expects(copies, ["exercise", "warm_up"], 0, "a program with 4 gaps", "./climb check warm_up")
    yield from refuses(copies, ["exercise", "warm_up"], "exists already; --force")
    yield from refuses(copies, ["hint", "warm_up", "--level", "5"], "--level takes 1 to 4, not 5")
    if "__global__" in source.read_text() or source.read_text().count("// TODO: ") < 4:
        yield f"the copy is {source.read_text()}"
    yield from expects(copies, ["hint", "warm_up", "--level", "4"], 0, "line 5: the kernel", "__global__ void add(…) {",
                       "add<<<…>>>(…);")
    yield from expects(copies, ["solution", "warm_up"], 0, "+  if (i < n) c[i] = a[i] + b[i];")
    yield from expects(copies, ["check", "warm_up"], 1, "must be 3", "no kernel ran")
    full = (ROOT / "common" / "tutor" / "warm_up" / "add.cu").read_text()
    for before, after, status, fragment in (("", "", 0, "Done."), ("if (i < n) ", "", 1, "out of bounds"),
                                            ("int n) {", "int n) }", 1, "add.cu:"),
                                            ("add<<<blocks", "add<<<blocks - 1", 1, "768 threads ran for 1000 elements"),
                                            ("bytes, cudaMemcpyDeviceToHost", "0, cudaMemcpyDeviceToHost", 1, "must be 3"),
                                            ("blockIdx.x * blockDim.x", "blockIdx.x", 1,
                                             "741 of 1000 elements were never")):
        source.write_text(full.replace(before, after))
        yield from expects(copies, ["check", "warm_up"], status, fragment)


def skeleton(copies):
    """For some stages, --skeleton creates a working copy that is the stage itself with gaps, without the lines of the
    gaps."""
    source, own = copies / "ata" / "03_naive_cuda" / "naive_cuda.cu", (STAGES / "03_naive_cuda" / "naive_cuda.cu").read_text()
    yield from expects(copies, ["exercise", "ata", "3", "--skeleton"], 0, "is the code of 03_naive_cuda with gaps")
    text = source.read_text()
    missing = [line for line in own.splitlines() if not line.startswith("///") and line not in text]
    if text.count("// TODO: ") != 5 or len(missing) != 10 or not any("multiply<<<" in line for line in missing):
        yield f"the skeleton is {text}"
    yield from refuses(copies, ["exercise", "ata", "4", "--skeleton", "--force"], "--skeleton takes ata 03_naive_cuda")


def no_room():
    """Limits the size of files that a process writes, which has the effect of a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))


def disk_is_full(copies):
    """A full disk costs no file: what cannot be written is named, and what was there stays as it was."""
    source = copies / "ata" / "05_unrolled" / "unrolled.cu"
    yield from refuses(copies, ["exercise", "ata", "05"], "unrolled.cu cannot be written: File too large",
                       preexec_fn=no_room)
    if list(source.parent.iterdir()):
        yield f"files remain: {list(source.parent.iterdir())}"
    yield from expects(copies, ["exercise", "ata", "05"], 0, "starts with the code of 04_tiled")
    progress = source.with_name("progress.json")
    before = source.read_text(), progress.read_text()
    yield from refuses(copies, ["exercise", "ata", "05", "--force"], "cannot be written", preexec_fn=no_room)
    status, said, error = tutor("hint", "ata", "05", copies=copies, preexec_fn=no_room)
    if status != 0 or "Hint 1 of 4." not in said or "this step is not recorded" not in error or error.count("\n") != 1:
        yield f"a hint that cannot be recorded: status {status}: {said}{error}"
    if before != (source.read_text(), progress.read_text()) or len(list(source.parent.iterdir())) != 2:
        yield "a file was changed or added"


def progress_is_damaged(copies):
    """A progress file that cannot be read is named once, is kept if it has any text, and stops no command."""
    progress = copies / "ata" / "05_unrolled" / "progress.json"
    for text in ("", '{"begun": "2026', "[1, 2]", "\xff"):
        progress.write_bytes(text.encode("latin-1"))
        for words in (["exercise", "--list"], ["hint", "ata", "05"]):
            status, _, error = tutor(*words, copies=copies)
            if status != 0 or error.count("\n") != 1 or "progress.json cannot be read" not in error:
                yield f"{' '.join(words)} with '{text}': status {status}: {error}"
        kept = progress.with_name("progress.json.damaged")
        if kept.exists() != bool(text) or (text and kept.read_bytes() != text.encode("latin-1")):
            yield f"the damaged file '{text}' was not kept"
        if json.loads(progress.read_text()) != {"hints": 1}:
            yield f"progress is {progress.read_text()}"
    yield from expects(copies, ["exercise", "--list"], 0, "(1 hint)")
    yield from refuses(pathlib.Path(__file__), ["exercise", "ata", "05"], "cannot be written: Not a directory")


def watches(copies):
    """--watch checks at once and whenever the file is saved, and ends with Ctrl-C."""
    source = copies / "ata" / "04_tiled" / "tiled.cu"
    source.write_text("broken")
    watching = subprocess.Popen([sys.executable, ROOT / "common" / "tutor", BUILD, "check", "ata", "04", "--watch",
                                 "--copies",
                                 copies], stdout=subprocess.PIPE, text=True)
    told = []
    for line in watching.stdout:
        told.append(line)
        if line.startswith("Waiting"):
            if sum(each.startswith("Waiting") for each in told) == 2:
                break
            source.write_text("broken again")
            os.utime(source, ns=(0, 0))
    watching.send_signal(signal.SIGINT)
    watching.stdout.read()
    if watching.wait() != 0 or sum(line.startswith("compiles") for line in told) != 2:
        yield f"status {watching.returncode}: {''.join(told)}"


with tempfile.TemporaryDirectory() as directory:
    tap.report([(check.__doc__, check(pathlib.Path(directory))) for check in
                (bad_input, copy_is_made, checks, ends_in_time, helps, warm_up, skeleton, watches, disk_is_full,
                 progress_is_damaged)])
