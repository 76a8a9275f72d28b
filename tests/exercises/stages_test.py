"""Checks that each stage shows its optimisation in the counters, and the previous stage does not: stages_test.py ROOT
BUILD WORKLOAD. Prints TAP."""

import pathlib
import sys
import tempfile

import building
import checking
import claims
import evasions
import hints
import tap
import workshop

ROOT, BUILD, WORKLOAD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]

PLACES = building.Places(ROOT, BUILD)
# These optimisations are timed, not counted.
UNCOUNTED = {"cholesky": ["23_deeper_mma"], "triangular_solve": ["08_prefetched", "12_two_step_prefetch"],
             "durbin_levinson": ["06_teams", "14_paired_steps"]}
# Ways to miss the point of a stage that its counters cannot tell from the stage, by workload and stage.
ACCEPTED = {}


def problems(stage):
    """Yields errors in the counters of a stage."""
    claim = claims.claim_of(stage.workload, stage.name)
    if not claim.counters:
        if stage.name not in UNCOUNTED.get(stage.workload, []):
            yield "nothing is counted; common/tutor/claims.py has no line for it"
        return
    job = checking.Job(PLACES, stage, stage.source, checking.shared(PLACES, stage))
    program = BUILD / checking.target_of(stage)
    precision = checking.common_precision(job, {"plain": program})
    own, before = checking.counters_to_compare(job, claim, precision)
    reached = {}
    for name in claim.counters:
        if not checking.is_reached(own[name], own[name], before[name]):
            yield f"{name} is {own[name]}, and {before[name]} before it"
        reached[name] = checking.is_reached(before[name], own[name], before[name])
    if all(reached.values()):
        yield "the stage before has all of it"


def evasions_of(stage):
    """The cheapest ways to miss the point of a stage: names, and whether the check would accept each of them. The previous stage and the
    first one for the same device are right without the technique."""
    claim = claims.claim_of(stage.workload, stage.name)
    job = checking.Job(PLACES, stage, stage.source, checking.shared(PLACES, stage))
    precision = checking.common_precision(job, {"plain": BUILD / checking.target_of(stage)})
    text, suffix = stage.source.read_text(), stage.source.suffix
    own = checking.counters_of_stage(PLACES, stage, claim.problem, precision)
    same = stage.before.source.suffix == suffix
    before = checking.counters_of_stage(PLACES, stage.before, claim.problem, precision) if same else {}
    yield "the previous stage", checking.is_accepted(job, claim, before, stage.before.source.read_text(), precision)
    first = stage.before
    while first.before and first.before.source.suffix == suffix:
        first = first.before
    if same and first != stage.before and (BUILD / checking.target_of(first)).exists():
        naive = checking.counters_of_stage(PLACES, first, claim.problem, precision)
        yield "the first stage", checking.is_accepted(job, claim, naive, first.source.read_text(), precision)
    if suffix == ".cpp" or own.get("threads", 0) > own.get("launches",
                                                           0):  # kernels of libraries are not counted, and one thread is the stage
        yield "one thread", checking.is_accepted(job, claim, evasions.by_one_thread(own, suffix), text, precision)
    yield "the host", checking.is_accepted(job, claim, evasions.by_the_host(own), "", precision)


def refused(stage):
    """Yields which of the cheapest ways to miss the point of a stage are accepted, unless this is known."""
    if not claims.claim_of(stage.workload, stage.name).counters:
        return
    accepted = {name for name, is_accepted in evasions_of(stage) if is_accepted}
    known = ACCEPTED.get((stage.workload, stage.name), set())
    yield from (f"accepted: {name}" for name in accepted - known)
    yield from (f"the table ACCEPTED names '{name}', which is refused" for name in known - accepted)


def helped(stage):
    """Yields errors in the help for a stage."""
    header = workshop.header_of(stage)
    if not {"Changed", "Legal", "Expect"} <= set(header):
        yield f"its header has only {', '.join(header)}"
    if not workshop.idea_of(stage):
        yield "its page has no idea in words"
    if not list(workshop.places_of_change(stage)):
        yield "nothing changes"
    text = workshop.starting_text(workshop.Copy(ROOT / "exercises", stage))
    with tempfile.TemporaryDirectory() as directory:
        copy = workshop.Copy(pathlib.Path(directory), stage)
        copy.make(False)
        given = list(hints.hints_of(copy))
        for hint, begin in zip(given, ("The symptom: ", "The idea: ", "The constructs: ", "Lines to change in ")):
            if not hint.startswith(begin) or len(hint) < 40:
                yield f"the hint '{begin}' is '{hint}'"
        places = list(hints.places(copy.source, stage.source))
        counts = sum(len(place[3]) for place in places), sum(len(place[2]) for place in places)
        if counts != workshop.book.lines_changed(stage.before.source, stage.source):
            yield f"the last hint counts {counts} changed lines, and the book counts " \
                  f"{workshop.book.lines_changed(stage.before.source, stage.source)}"
        own = [line.strip() for line in workshop.book.code_lines(stage.source) if "(" in line or "[" in line]
        shown = [line.strip() for line in given[3].splitlines() if line.startswith("    ")]
        if not shown or sum(line in own for line in shown) > len(shown) / 2:
            yield f"the skeleton is missing, or is the solution: {shown}"
    if len([line for line in text.splitlines() if line.startswith("///") and len(line) > 100]) > 0:
        yield "a line of the comment is too long"
    if stage.idea not in text or f'.title = "{stage.title}"' not in text:
        yield "the working copy does not say what to do"


stages = [stage for stage in workshop.book.find_stages(ROOT)[WORKLOAD] if stage.before]
built = [stage for stage in stages if building.has_target(PLACES, checking.target_of(stage))]
tap.report([(f"{stage.name} is counted, {stage.before.name} is not", problems(stage)) for stage in built]
           + [(f"{stage.name} is not met by {stage.before.name}, by one thread or by the host", refused(stage)) for stage in built]
           + [(f"{stage.name} has hints and a task", helped(stage)) for stage in stages])
