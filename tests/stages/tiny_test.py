"""Compares every stage of a workload with stage zero on the data set tiny, by the runner: tiny_test.py RUNNER PROGRAMS
WORKLOAD. Prints TAP.

This is the part of the contract that takes seconds. If the runner cannot run a case here (a missing GPU, a precision
that a stage does not offer), the case is skipped with the runner's reason.
"""

import json
import pathlib
import subprocess
import sys

RUNNER, PROGRAMS, WORKLOAD = sys.argv[1:]


def expected():
    """The stages of the workload in this build, from the list that the runner reads; variants with analysis are not run."""
    for line in (pathlib.Path(PROGRAMS) / "programs.txt").read_text().splitlines():
        program, device, _ = line.split()
        workload, _, stage = program.partition("-")
        if workload == WORKLOAD and device != "analysis":
            yield stage.removesuffix("-cpu")


def cases():
    """Yields each case that the runner reports: precision and stage, its verdict, and the reason if there is one."""
    command = [RUNNER, "--programs", PROGRAMS, WORKLOAD, "--dataset", "tiny", "--precision", "f64,f32", "--repeat", "1",
               "--warmup", "0", "--json", "-"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if not ran.stdout:
        raise SystemExit(f"{' '.join(command)} ended with status {ran.returncode}: {ran.stderr}")
    for run in json.loads(ran.stdout)["runs"]:
        for record in run["records"]:
            yield f"{run['precision']} {record['stage']}", record.get("verdict", "none"), record.get("reason", "")


def main():
    """Prints one line per case. A stage that the runner does not mention fails."""
    seen = list(cases())
    stages = {name.split()[1] for name, _, _ in seen}
    seen += [(f"f64 {stage}", "missing", "the runner does not report this stage")
             for stage in sorted(set(expected()) - stages)]
    print(f"1..{len(seen)}")
    for number, (name, verdict, reason) in enumerate(seen, 1):
        passed = verdict in ("reference", "matches")
        skipped = verdict in ("not available", "not for this size") and reason
        print(f"{'ok' if passed or skipped else 'not ok'} {number} - {name}{f' # SKIP {reason}' if skipped else ''}")
        if not passed and not skipped:
            print(f"# {verdict}: {reason}")


main()
