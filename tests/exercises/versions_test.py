"""The tutor's answers to versions of solutions as learners write them: versions_test.py ROOT BUILD [NAME]. Prints TAP."""

import concurrent.futures
import os
import pathlib
import re
import sys

import building
import checking
import tap
import workshop
from versions import ALL

ROOT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PLACES = building.Places(ROOT, BUILD)


def original(stage):
    """The source to which the changes of versions are applied."""
    own = pathlib.Path(__file__).with_name("versions") / f"{stage.workload}_{stage.number}.cu"
    return (own if own.exists() else stage.source).read_text()


def problems(number, version):
    """Yields the differences between the answers to a version and the expected ones."""
    stage = workshop.find(ROOT, *version.stage.split())
    text = original(stage)
    for before, after in version.changes:
        if before not in text:
            yield f"'{before}' is not in the source"
            return
        text = text.replace(before, after)
    # The harness takes the names of workload and stage from the path. A constant path allows hits in the compiler's cache.
    directory = BUILD / "exercises" / "versions" / str(number)
    source = directory / stage.workload / stage.name / stage.source.name
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    steps = {step.name: step for step in checking.check(checking.Job(PLACES, stage, source, directory), eager=False)}
    given = [f"{step.name}: {step.state}: {[*step.says, *step.remarks]}" for step in steps.values()]
    for name, (state, *words) in version.answers.items():
        if name not in steps or steps[name].state != state:
            yield f"the step '{name}' must be '{state}'"
            yield from given
            return
        answer = " ".join([*steps[name].says, *steps[name].remarks])
        yield from (f"'{word}' is not in the answer of '{name}': {answer}" for word in words if not re.search(word, answer))


wanted = [each for each in ALL if len(sys.argv) < 4 or sys.argv[3] in f"{each.stage} {each.name}"]
with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
    answers = [pool.submit(lambda number, each: list(problems(number, each)), ALL.index(each), each) for each in wanted]
    tap.report([(f"{each.stage}, {each.name}: leads to the cause", answer.result()) for each, answer in zip(wanted, answers)])
