"""The output of the tests in Python: TAP, which Meson reads."""


def skip(why):
    """Prints that all checks are skipped, and the reason."""
    print(f"1..0 # SKIP {why}")


def report(checks, most=20):
    """Prints one line per check and, below it, its first `most` problems, or all problems if `most` is None.

    A check is a pair of a description and an iterable of sentences, its problems. The iterables are evaluated in order,
    each just before its line is printed.
    """
    checks = list(checks)
    print(f"1..{len(checks)}")
    for number, (title, problems) in enumerate(checks, 1):
        problems = list(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - {title}")
        for problem in problems[:most]:
            print(f"# {problem}")
