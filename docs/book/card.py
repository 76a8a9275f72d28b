"""The card at the head of a stage's page, and the ladders that link the stages of a workload.

A ladder shows the largest problem, preferably in f64, for which nearly all stages are recorded, or else the problem for
which most stages are recorded.
"""

import html
import math
import re

from book import hosted, machines
from draw import maps, plots
from measure import figures

NEARLY_ALL = 0.9  # the fraction of a workload's stages that counts as nearly all
RULE = re.compile(r"^### ([^\n]+) \{#(\w+)\}$", re.MULTILINE)


def problem_of(of_workload, results):
    """Machine, workload, data set and precision of a workload's ladder, or None if nothing is recorded."""
    workload, best = of_workload[0].workload, None
    for machine in machines.machines(results):
        for dataset, precision in results.problems(workload, machine):
            found = figures.sources(results.runs(machine, workload, dataset, precision))
            covered = sum(stage.name in found for stage in of_workload) / len(of_workload)
            work = machines.work_of(results, machine, workload, dataset, precision)
            rank = (min(covered, NEARLY_ALL), precision == "f64", work)
            if covered and (best is None or rank > best[0]):
                best = rank, [machine, workload, dataset, precision]
    return best and best[1]


def sources_of(of_workload, results):
    """A workload's problem and runs, and for each of its stages the record and the recording that contains this record."""
    problem = problem_of(of_workload, results)
    runs = results.runs(*problem) if problem else []
    return problem, runs, figures.sources(runs)


def source_of(stage, of_workload, results):
    """The problem, the run and the recording that provide a stage's time on its card: the ladder's problem, or else another
    problem.

    Among other problems, the order of preference is: on the ladder's machine, with the previous stage recorded, in f64, largest.
    """
    problem, runs, _ = sources_of(of_workload, results)
    if not problem:
        return None
    found = []
    for machine in machines.machines(results):
        for dataset, precision in results.problems(stage.workload, machine):
            of_problem = [machine, stage.workload, dataset, precision]
            newest = results.newest(*of_problem, stage.name)
            if newest:
                before = stage.before and "seconds" in figures.by_stage(newest[0]).get(stage.before.name, {})
                work = figures.by_stage(newest[0])[stage.name]["modelled"]["flops"]
                rank = (of_problem == problem, machine == problem[0], bool(before), precision == "f64", work)
                found.append((rank, (of_problem, *newest)))
    return max(found, key=lambda one: one[0])[1] if found else None


# --- The ladder

WIDE, HIGH, EDGE = 36, 92, 14  # pixels: width per stage, height of the drawing, margin


def places(of_workload, found):
    """Yields the points of a ladder: x, y and whether a time is recorded. The height of a point without a time is the mean
    of the heights of the nearest points with times."""
    times = [math.log(plots.median(found[stage.name][0])) if stage.name in found else None for stage in of_workload]
    known = [time for time in times if time is not None]
    low, high = min(known), max(known)
    for n, time in enumerate(times):
        before = next((times[i] for i in range(n, -1, -1) if times[i] is not None), None)
        after = next((times[i] for i in range(n, len(times)) if times[i] is not None), None)
        shown = time if time is not None else sum(value for value in (before, after) if value is not None) / (
            (before is not None) + (after is not None))
        share = (high - shown) / (high - low) if high > low else 0.5
        yield WIDE * n + WIDE / 2, EDGE + 8 + share * (HIGH - 2 * EDGE - 16), time is not None


def ladder_html(of_workload, problem, found, here=None):
    """A drawing whose points are links to the stages of a workload."""
    points = list(places(of_workload, found))
    width = WIDE * len(of_workload)
    line = " ".join(f"{x:.0f},{y:.1f}" for x, y, _ in points)
    known = " ".join(f"{x:.0f},{y:.1f}" for x, y, is_known in points if is_known)
    text = f'<polyline points="{line}" class="guess"/><polyline points="{known}" class="line"/>'
    for stage, (x, y, known) in zip(of_workload, points):
        time = figures.seconds_text(plots.median(found[stage.name][0])) if known else "not recorded on this machine"
        device = found[stage.name][0]["device"] if known else "none"
        label = html.escape(f"{stage.heading}: {time}", quote=True)
        is_here = stage is here
        dot = f'<circle cx="{x:.0f}" cy="{y:.1f}" r="{9 if is_here else 6}" class="{device}{" here" if is_here else ""}"/>'
        current = ' aria-current="page"' if is_here else ""
        text += (f'<a href="{stage.page}.html" aria-label="{label}"{current}><title>{label}</title>'
                 f'<rect x="{x - WIDE / 2:.0f}" y="0" width="{WIDE}" height="{HIGH + 16}"/>{dot}'
                 f'<text x="{x:.0f}" y="{HIGH + 8}">{stage.number}</text></a>')
    machine, workload, dataset, precision = problem
    return (f'<svg class="ladder" viewBox="0 0 {width} {HIGH + 14}" style="max-width: {width}px" role="group" '
            f'aria-label="The ladder of {html.escape(workload)}, {dataset}, {precision}, on {machine}: a point for each stage, its time on a '
            f'logarithmic scale">{text}</svg>')


def key_html(found, of_workload):
    """The key to the colours of a ladder."""
    devices = {found[stage.name][0]["device"] for stage in of_workload if stage.name in found}
    return " ".join(f'<span class="{device}">{plots.DEVICES[device][0]}</span>' for device in ("cpu", "gpu") if device in devices)


def ends_text(of_workload, found):
    """The times of the first and the fastest stage of a ladder."""
    known = [stage for stage in of_workload if stage.name in found]
    fastest = min(known, key=lambda stage: plots.median(found[stage.name][0]))
    return " → ".join(f"{stage.number}: {figures.seconds_text(plots.median(found[stage.name][0]))}" for stage in (known[0], fastest))


def chapter_html(of_workload, results, caption=True):
    """The ladder of a workload, for the head of its chapter and for the first page."""
    problem, runs, found = sources_of(of_workload, results)
    if not found:
        return ""
    what = f"{problem[2]}, {problem[3]}"
    words = f"{key_html(found, of_workload)} · {ends_text(of_workload, found)} · <i>{html.escape(what)}</i>"
    source = f" · {html.escape(figures.sources_text(runs))}" if caption else ""
    return (f'<figure class="climb">{ladder_html(of_workload, problem, found)}'
            f'<figcaption class="caption">{words}{source}</figcaption></figure>\n')


# --- The card

def rules_of(root):
    """Title and link of the transformations of each step, by the label of the stage."""
    page = hosted.read(root / "docs" / "pages" / "transformations.md", root)
    links = {re.sub(r" \(.*\)|,.*", "", title): f"transformations.html#{label}" for title, label in RULE.findall(page)}
    return {stage: [(title, links.get(title, "transformations.html")) for title in titles]
            for stage, titles in maps.transformations(root).items()}


def in_sweeps(stage, results):
    """Whether a stage was recorded in a sweep over a parameter."""
    return any(run["workload"] == stage.workload and stage.name in figures.by_stage(run)
               for sweep in results.sweeps.values() for run in sweep["runs"])


def entries(stage, source, problem, results, rules, changed):
    """Yields the entries of the card as pairs of a heading and HTML. The headings name the data set, and the precision and the machine if
    they differ from the ladder's."""
    if source:
        of_problem, run, _ = source
        record = figures.by_stage(run)[stage.name]
        differs = [of_problem[2]] + [word for n, word in ((3, of_problem[3]), (0, of_problem[0])) if word != problem[n]]
        yield f"Time ({', '.join(differs)})", figures.seconds_text(plots.median(record))
        ratio = maps.ratio_text(results.runs(*of_problem), stage.before.name, stage.name) if stage.before else ""
        if ratio:
            yield f"Gain over {stage.before.number} ({differs[0]})", ratio
        if "of_limit" in record:
            yield f"% of peak ({differs[0]})", f"{100 * record['of_limit']:.3g} %"
    else:
        yield "Time", "recorded only in sweeps" if in_sweeps(stage, results) else "not recorded"
    if stage.before:
        added, removed = changed
        yield f"Step from {stage.before.number}", f"+{added} −{removed} lines"
    titles = rules.get(stage.page, [])
    if titles:
        yield ("Rule" if len(titles) == 1 else "Rules"), ", ".join(f'<a href="{link}">{html.escape(title)}</a>' for title, link in titles)


def card_html(stage, of_workload, results, rules, changed, neighbours, minutes):
    """The card of a stage."""
    problem, _, found = sources_of(of_workload, results)
    source = source_of(stage, of_workload, results)
    cells = [*entries(stage, source, problem, results, rules, changed), ("Reading", f"about {minutes} min")]
    items = "".join(f"<div><dt>{word}</dt><dd>{text}</dd></div>" for word, text in cells)
    ladder = ""
    if found:
        machine = machines.short_title(results.recordings(problem[0]), problem[0])
        where = f"{problem[2]}, {problem[3]}, {machine}"
        ladder = (f'<figure>{ladder_html(of_workload, problem, found, stage)}<figcaption class="caption">'
                  f"{key_html(found, of_workload)} · <i>{html.escape(where)}</i>; sources of the times: "
                  f'<a href="{stage.workload}.html">the chapter</a></figcaption></figure>')
    before, after = neighbours
    hops = "".join(f'<a {kind} href="{of[0]}.html">{text}</a>' for kind, of, text in (
        ('class="back"', before, f"← {before[1] if before else ''}"), ('class="on"', after, f"{after[1] if after else ''} →")) if of)
    return (f'<p class="idea">{html.escape(stage.idea)}.</p><div class="card"><dl>{items}</dl>{ladder}'
            f'<nav class="hops" aria-label="The stage before and the next">{hops}'
            f'<a class="whole" href="{stage.page}_source.html">The whole program</a></nav></div>\n')
