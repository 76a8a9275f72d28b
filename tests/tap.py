"""What the tests in Python print: TAP, which meson reads."""


def skip(why):
    """Says that nothing is checked here, and why."""
    print(f"1..0 # SKIP {why}")


def report(checks, most=20):
    """Prints one line per check and, below it, its first problems; all of them if most is None.

    Checks are pairs: what is checked, and an iterable of sentences, its problems. These are evaluated in order, each just
    before its line is printed.
    """
    checks = list(checks)
    print(f"1..{len(checks)}")
    for number, (what, problems) in enumerate(checks, 1):
        problems = list(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - {what}")
        for problem in problems[:most]:
            print(f"# {problem}")
