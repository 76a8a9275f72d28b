"""The rooms of the CPU device's sources see each other in one direction: rooms_test.py. Speaks TAP.

The machine knows neither the runtime nor the analysis, the runtime knows the machine, and the analysis both. The driver, with NVRTC, knows machine
and runtime. What the first two
tell the analysis is declared beside all rooms.
"""

import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"
SEEN = {"machine": {"machine"}, "runtime": {"machine", "runtime"}, "analysis": {"machine", "runtime", "analysis"},
        "driver": {"machine", "runtime", "driver"}}
INCLUDED = re.compile(r'^#include "([\w/.]+)"', re.MULTILINE)


def included_rooms(source):
    """Pairs of a header and its room, for all that a source includes of another or of its own."""
    for name in INCLUDED.findall(source.read_text()):
        header = (source.parent / name).resolve()
        if header.exists() and header.parent != SOURCES:
            yield name, header.parent.name


def main():
    print(f"1..{len(SEEN)}")
    for number, (room, seen) in enumerate(SEEN.items(), 1):
        sources = [source for ending in ("*.cpp", "*.hpp") for source in sorted((SOURCES / room).glob(ending))]
        wrong = [f"{room}/{source.name} includes {name}" for source in sources
                 for name, other in included_rooms(source) if other not in seen]
        others = [room for source in sources for _, room in included_rooms(source)]
        if room not in others:
            wrong.append(f"no header of {room} was found in it")
        print(f"{'not ok' if wrong else 'ok'} {number} - {room} includes nothing but of {', '.join(sorted(seen))}")
        print("".join(f"# {sentence}\n" for sentence in wrong), end="")


main()
