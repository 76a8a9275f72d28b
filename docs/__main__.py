"""What is done with the documentation, by hand or by the build: python3 docs COMMAND ARGUMENT...

    book        makes the book                              (Meson runs it)
    page        prints a page as Doxygen reads it           (Doxygen runs it)
    serve       serves the book to this machine             (./climb serve runs it)
    install     installs the book                           (Meson runs it)
    figures     holds the figures on the pages to the recorded runs, or takes them from there
    lines       counts anew the lines that steps change, in the tables of the pages
    pictures    makes the README's pictures
    record      records a machine's results                 (./climb --record runs it)
    counters    records what NVIDIA's profiler counts
    sanitizers  records what NVIDIA's compute-sanitizer says of planted bugs
    conformance  records what a GPU says to the tests of the CPU device
    rounding    measures what rounding does to the stages of Durbin-Levinson
    energy      measures what precision does to bodies
    communication  measures or simulates what messages between ranks cost
    fits        makes what the chapter on least squares shows

The module of each, in book/, draw/ or measure/, says at its head what it takes.
"""

import importlib
import inspect
import sys

COMMANDS = {"book": "book.make", "page": "book.page", "serve": "book.serve", "install": "book.install",
            "figures": "book.quoted", "lines": "book.stages", "pictures": "draw.pictures", "record": "measure.record",
            "counters": "measure.counters", "sanitizers": "measure.sanitizers", "conformance": "measure.conformance",
            "rounding": "measure.rounding", "communication": "measure.communication", "energy": "measure.energy", "fits": "coefficients.least_squares"}


def main(command="", *arguments):
    """The exit status of a command."""
    if command not in COMMANDS:
        return __doc__
    module = importlib.import_module(COMMANDS[command])
    try:
        inspect.signature(module.main).bind(*arguments)
    except TypeError:
        return module.__doc__
    return module.main(*arguments)


sys.exit(main(*sys.argv[1:]))
