"""Tests that the source directories of the CPU device form layers: layers_test.py. Prints TAP.

Each layer includes its own headers. The runtime and the driver also include the machine's headers, and the driver
includes the runtime's. The analysis includes the headers of the machine and of the runtime. The machine
and the runtime call the analysis through an interface that belongs to no layer.
"""

import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"
PERMITTED = {"machine": {"machine"}, "runtime": {"machine", "runtime"}, "analysis": {"machine", "runtime", "analysis"},
             "driver": {"machine", "runtime", "driver"}}
INCLUDED = re.compile(r'^#include "([\w/.]+)"', re.MULTILINE)


def included_layers(source):
    """Yields each header that a source includes, with the header's layer."""
    for name in INCLUDED.findall(source.read_text()):
        header = (source.parent / name).resolve()
        if header.exists() and header.parent != SOURCES:
            yield name, header.parent.name


def main():
    print(f"1..{len(PERMITTED)}")
    for number, (layer, permitted) in enumerate(PERMITTED.items(), 1):
        sources = [source for ending in ("*.cpp", "*.hpp") for source in sorted((SOURCES / layer).glob(ending))]
        wrong = [f"{layer}/{source.name} includes {name}" for source in sources
                 for name, other in included_layers(source) if other not in permitted]
        included = [layer for source in sources for _, layer in included_layers(source)]
        if layer not in included:
            wrong.append(f"no source of {layer} includes a header of {layer}, so the test checks nothing")
        print(f"{'not ok' if wrong else 'ok'} {number} - {layer} includes only headers of {', '.join(sorted(permitted))}")
        print("".join(f"# {sentence}\n" for sentence in wrong), end="")


main()
