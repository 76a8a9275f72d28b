"""Inserts an object `Pass` after the header of each loop of the kernels, so that a run records its iterations.

Usage: instrument.py SOURCE OUTPUT
"""

import pathlib
import re
import sys

source, output = map(pathlib.Path, sys.argv[1:])
head = re.compile(r"^(\s*for \(long (\w+) = .*\{)$")
lines = source.read_text().splitlines()
output.write_text("".join(head.sub(rf"\1 const Pass pass({number}, \2);", line) + "\n"
                          for number, line in enumerate(lines, 1)))
