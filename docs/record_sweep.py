"""Records stages over the values of one parameter, for a plot.

Usage: record_sweep.py CLIMB OUTPUT.json KEY VALUE,VALUE,... CLIMB-ARGUMENT...

CLIMB is the runner, as in `build/common/climb/climb`. It runs once a value with `--set KEY=VALUE` and the
arguments, and prints its tables. OUTPUT is one recording of all these runs; its entry `sweep` is the KEY,
and the entry `value` of each run what it was set to. A run in which a stage fails is recorded as the runner
records it, and the exit status is 1.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def record(climb, arguments):
    """What the runner records, and its exit status."""
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory, "climb.json")
        status = subprocess.run([climb, *arguments, "--json", output]).returncode
        if not output.exists():
            sys.exit(f"{climb} {' '.join(arguments)} ended with status {status} and recorded nothing")
        return json.loads(output.read_text()), status


def main(climb, output, key, values, *arguments):
    """The exit status: 1 if a run failed."""
    runs, statuses = [], []
    for value in values.split(","):
        recording, status = record(climb, [*arguments, "--set", f"{key}={value}"])
        runs += [run | {"value": float(value)} for run in recording["runs"]]
        statuses.append(status)
    pathlib.Path(output).write_text(
        json.dumps(recording | {"sweep": key, "runs": runs}, indent=2) + "\n")
    return int(any(statuses))


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
