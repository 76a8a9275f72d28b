"""The tutor's verdicts on correct solutions and on seeded faults of known kinds: planted_test.py ROOT BUILD [KIND]. Prints TAP."""

import concurrent.futures
import os
import pathlib
import re
import sys

import building
import checking
import tap
import workshop
from planted import ALL

ROOT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

PLACES = building.Places(ROOT, BUILD)
# Stages whose own source must pass, one for each kind of build.
RIGHT = ["ata 01", "ata 03"]


def checked(number, stage, text, last=None):
    """The answers of the tutor to a source, up to the step `last`."""
    stage = workshop.find(ROOT, *stage.split())
    # The harness takes the names of workload and stage from the path. A constant path allows hits in the compiler's cache.
    directory = BUILD / "exercises" / "planted" / str(number)
    source = directory / stage.workload / stage.name / stage.source.name
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    steps = []
    for step in checking.check(checking.Job(PLACES, stage, source, directory), eager=False):
        steps.append(step)
        if step.name == last:
            break
    return steps


def own_source(stage):
    """The source of a stage."""
    return workshop.find(ROOT, *stage.split()).source.read_text()


def with_changes(planted):
    """The source of a stage with a seeded fault; a change without effect is an error of the table."""
    text = own_source(planted.stage)
    for before, after in planted.changes:
        if before not in text:
            raise ValueError(f"'{before}' is not in the source")
        text = text.replace(before, after)
    return text


def right(number, stage):
    """Errors in the answers to a stage's own source."""
    return [f"{step.name}: {step.says}" for step in checked(number, stage, own_source(stage)) if step.passed is False]


def found(number, planted):
    """Errors in the verdict on a seeded fault."""
    try:
        steps = checked(number, planted.stage, with_changes(planted), planted.step)
    except ValueError as error:
        return [str(error)]
    said = [f"{step.name} {step.passed}: {step.says}" for step in steps]
    failed = next((step for step in steps if step.name == planted.step and step.passed is False), None)
    if failed is None:
        return [f"'{planted.step}' did not fail", *said]
    if planted.step == "optimised" and any(step.passed is False for step in steps[:-1]):
        return ["another step failed, too", *said]
    return [f"'{word}' is not in the answer: {failed.says}" for word in planted.words if not re.search(word, " ".join(failed.says))]


wanted = [each for each in ALL if len(sys.argv) < 4 or sys.argv[3] in f"{each.stage} {each.kind}"]
cases = [] if len(sys.argv) > 3 else [(f"{stage} itself passes", right, stage) for stage in RIGHT
                                      if building.has_target(PLACES, checking.target_of(workshop.find(ROOT, *stage.split())))]
cases += [(f"{each.stage}, {each.kind}: fails where it is '{each.step}'", found, each) for each in wanted]
with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
    answers = [pool.submit(function, number, argument) for number, (_, function, argument) in enumerate(cases)]
    tap.report([(what, answer.result()) for (what, _, _), answer in zip(cases, answers)])
