"""The commands of the documentation, for users and for the build: python3 docs COMMAND ARGUMENT...

    book        makes the book                              (Meson runs it)
    page        prints a page as Doxygen reads it           (Doxygen runs it)
    serve       serves the book to this machine             (./climb serve runs it)
    install     installs the book                           (Meson runs it)
    figures     checks the figures on the pages against the recorded runs, or replaces wrong figures
    ends        updates the README's table of the fastest stage of each workload
    lines       updates the numbers of changed lines in the tables of the pages
    pictures    draws the README's pictures
    record      records a machine's results                 (./climb --record runs it)
    counters    records the counters of NVIDIA's profiler
    sanitizers  records the reports of NVIDIA's compute-sanitizer on seeded faults
    conformance  runs the tests of the CPU device on a GPU and records the results
    rounding    measures the rounding errors of the stages of Durbin-Levinson
    energy      measures the energy error of n-body by precision
    communication  measures or simulates the cost of messages between ranks
    fits        writes the figures of the chapter on least squares

The docstring of each module, in book/, draw/ or measure/, describes its arguments.
"""

import importlib
import inspect
import sys

COMMANDS = {"book": "book.make", "page": "book.page", "serve": "book.serve", "install": "book.install",
            "figures": "book.quoted", "ends": "book.ends", "lines": "book.stages", "pictures": "draw.pictures", "record": "measure.record",
            "counters": "measure.counters", "sanitizers": "measure.sanitizers", "conformance": "measure.conformance",
            "rounding": "measure.rounding", "communication": "measure.communication", "energy": "measure.energy", "fits": "coefficients.least_squares"}


def main(command="", *arguments):
    """Runs a command and returns its exit status."""
    if command not in COMMANDS:
        return __doc__
    module = importlib.import_module(COMMANDS[command])
    try:
        inspect.signature(module.main).bind(*arguments)
    except TypeError:
        return module.__doc__
    return module.main(*arguments)


sys.exit(main(*sys.argv[1:]))
