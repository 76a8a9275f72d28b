"""Records stages over the values of one parameter, for a plot.

Usage: sweep.py CLIMB OUTPUT.json KEY VALUE,VALUE,... CLIMB-ARGUMENT...

CLIMB is the runner, as in `build/common/climb/climb`; it runs once a value with `--set KEY=VALUE`. OUTPUT
is one recording with the runs of all values; its entry `sweep` names the parameter, and each run's entry
`value` what it was.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def main(climb, output, key, values, *arguments):
    """Runs the runner once a value and joins what it records."""
    recording, runs = {}, []
    for value in values.split(","):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "climb.json")
            subprocess.run([climb, *arguments, "--set", f"{key}={value}", "--json", path], check=True)
            recording = json.loads(path.read_text())
        runs += [run | {"value": float(value)} for run in recording["runs"]]
    pathlib.Path(output).write_text(
        json.dumps(recording | {"sweep": key, "runs": runs}, indent=2) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
