"""Diagrams of recorded data: the stages of a workload as a map, and the phases of each stage over time."""

import dataclasses
import re
import statistics
import textwrap

from book import hosted
from draw import plots
from draw.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL, Diagram
from measure import figures, recordings

COLOURS = {"cpu": BLUE, "gpu": ORANGE}  # as in a ladder
PHASES = {"allocate": (INK, 0.12), "copy in": (BLUE, 0.35), "kernels": (ORANGE, 0.7), "copy out": (GREEN, 0.45)}
OTHER = PURPLE, 0.45
LANE = 12  # the height of a lane of a timeline, including the gap to the next lane, in pixels
ASIDE = "A dashed arrow leads to a stage that continues another one than its neighbour. "


def transformations(root):
    """Maps the label of a stage to the main transformations of its step: those with a gain, or all if none has a
    gain."""
    page = hosted.read(root / "docs" / "pages" / "transformations.md", root)
    of_stage = {}
    for title, section in re.findall(r"^### ([^\n]+) \{#\w+\}\n(.*?)(?=^##|\Z)", page,
                                     re.MULTILINE | re.DOTALL):
        for label, cells in re.findall(r"^\|[^|\n]*\\ref (\w+)(.*)$", section, re.MULTILINE):
            gains = " ×<!--" in cells.rstrip("| ").rpartition("|")[2]
            of_stage.setdefault(label, []).append((re.sub(r" \(.*\)|,.*", "", title), gains))
    return {label: [title for title, gains in found if gains] or [title for title, _ in found]
            for label, found in of_stage.items()}


def ratio_text(runs, before, after):
    """The speed-up of a stage over an earlier one as text, if a recording contains both."""
    for run, _ in runs:
        records = figures.by_stage(run)
        if all("seconds" in records.get(name, {}) for name in (before, after)):
            ratio = figures.figure("speedup", [records[before], records[after]])
            return f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:.3g} ×"
    return ""


def draw_box(canvas, stage, record, width, height):
    """Draws a stage with its time."""
    time = figures.seconds_text(plots.median(record)) if record else "not recorded"
    colour = COLOURS[record["device"]] if record else INK
    canvas.box(0, 0, width, height, colour=colour, fill=0.16 if record else 0, dashed=not record)
    if height > 40:
        canvas.text(width / 2, height / 2 - 9, stage.heading, bold=True)
        canvas.text(width / 2, height / 2 + 9, time, 12)
    else:
        canvas.text(8, height / 2, stage.heading, ha="left", bold=True)
        canvas.text(width - 8, height / 2, time, ha="right")


def draw_wide(canvas, of_workload, records, steps):
    """Draws three stages per row, from left to right."""
    left, width, height, gap, down = 2, 178, 50, 131, 104  # half of an edge lies outside its box
    for n, stage in enumerate(of_workload):
        x, y = left + (width + gap) * (n % 3), 4 + down * (n // 3)
        draw_box(canvas.part(x, y), stage, records.get(stage.name), width, height)
        if n + 1 == len(of_workload):
            break
        names, gain, dashed = steps[n]
        label = ", ".join(names).capitalize()
        if n % 3 < 2:
            middle = x + width + gap / 2
            canvas.arrow((x + width + 4, y + height / 2), (x + width + gap - 4, y + height / 2), dashed=dashed)
            lines = textwrap.wrap(label, 24)
            canvas.text(middle, y + height / 2 - 5 - 6 * len(lines), "\n".join(lines), SMALL)
            canvas.text(middle, y + height / 2 + 12, gain, SMALL)
        else:
            turn = y + height + (down - height) / 2
            canvas.line((x + width / 2, y + height), (x + width / 2, turn), (left + width / 2, turn), dashed=dashed)
            canvas.arrow((left + width / 2, turn), (left + width / 2, y + down - 1), dashed=dashed)
            canvas.text(canvas.width / 2, turn - 9, f"{label}  {gain}".strip(), SMALL)


def draw_narrow(canvas, of_workload, records, steps):
    """Draws the stages one below the other."""
    height, down = 30, 60
    for n, stage in enumerate(of_workload):
        y = 2 + down * n
        draw_box(canvas.part(2, y), stage, records.get(stage.name), canvas.width - 4, height)
        if n + 1 < len(of_workload):
            names, gain, dashed = steps[n]
            canvas.arrow((24, y + height + 1), (24, y + down - 1), dashed=dashed)
            canvas.text(34, y + height + 15, f"{', '.join(names).capitalize()}  {gain}".strip(), SMALL,
                        ha="left")


def steps_of(of_workload, runs):
    """Yields, for each stage except the first, up to two transformations, the speed-up of its step, and whether it continues
    a stage other than the previous one.

    If a stage does not continue the previous stage in reading order, the text names the continued stage, and the arrow is
    dashed.
    """
    known = transformations(of_workload[0].source.parents[3])
    for neighbour, stage in zip(of_workload, of_workload[1:]):
        gain, aside = ratio_text(runs, stage.before.name, stage.name), stage.before is not neighbour
        if aside:
            gain = f"{gain} from {stage.before.number}".strip()
        yield known.get(stage.page, [])[:2], gain, aside


def told_of(stage, record):
    """The heading, the time and the device of a stage, in words."""
    if not record:
        return f"{stage.heading}, not recorded"
    return f"{stage.heading}, {figures.seconds_text(plots.median(record))} on the {record['device'].upper()}"


def map_of_stages(words, workloads, results):
    """The stages of a workload with their times on a problem, and the transformations that lead from each stage to the
    next."""
    if len(words) != 4 or words[1] not in workloads:
        raise figures.UnknownKey("a map is named machine.workload.dataset.precision")
    of_workload, runs = workloads[words[1]], results.runs(*words)
    records = {record["stage"]: record for record in plots.timed(run for run, _ in runs)}
    steps = list(steps_of(of_workload, runs))
    told = [told_of(stage, records.get(stage.name)) for stage in of_workload]
    for n, (names, gain, _) in enumerate(steps):
        told[n + 1] = ", ".join(filter(None, (" and ".join(names).lower(), gain, f"to {told[n + 1]}")))
    problem = f"{words[1]}, {words[2]}, {words[3]}"
    draw = {True: draw_wide, False: draw_narrow}
    return Diagram(
        f"The stages of {problem}",
        f"The stages of {problem}, and what leads from one to the next: {'; '.join(told)}.",
        f"{problem}: blue on the processor, orange on the GPU; on the arrows the transformations that a "
        "step is about, and how many times as fast the stage is as the one before, both in one recording. "
        f"{ASIDE if any(aside for _, _, aside in steps) else ''}{figures.sources_text(runs)}.",
        {"wide": 62 + 104 * ((len(of_workload) - 1) // 3), "narrow": 60 * len(of_workload) - 26},
        lambda canvas: draw[canvas.is_wide](canvas, of_workload, records, steps))


@dataclasses.dataclass
class Times:
    """The times of a stage: the seconds of its phases, and the intervals (begin, end) that overlap the phases, by name."""

    phases: dict
    beside: dict

    @property
    def in_all(self):
        """The total time of all phases in seconds."""
        return sum(self.phases.values())

    @property
    def end(self):
        """The time at which the last phase or interval ends, in seconds."""
        return max(self.in_all, *(end for spans in self.beside.values() for _, end in spans), 0)


def look_of(name):
    """The colour and the opacity of a phase, or of an overlapping interval with a name such as "kernels" or "kernels,
    GPU 1"."""
    return PHASES.get(name.partition(",")[0], OTHER)


def times_of(record):
    """The medians of a stage's phases. If intervals overlap the phases, the repeat with the median time of the whole
    solve is used instead."""
    repeats = record["repeats"]
    if not any("beside" in repeat for repeat in repeats):
        return Times({phase: statistics.median(repeat["phases"][phase] for repeat in repeats)
                      for phase in repeats[0]["phases"]}, {})
    repeat = recordings.drawn(repeats)
    beside = {name: [] for name in PHASES}
    for span in repeat.get("beside", []):
        beside.setdefault(span["name"], []).append((span["begin"], span["end"]))
    return Times(repeat["phases"], {name: sorted(spans) for name, spans in beside.items() if spans})


def height_of(times, is_wide):
    """The height of the row of a stage, with its lanes, in pixels."""
    return (34 if is_wide else 46) + LANE * len(times.beside)


def draw_lanes(canvas, beside, scale, is_wide):
    """Draws one lane for each name of overlapping intervals, to scale."""
    for n, (name, spans) in enumerate(beside.items()):
        colour, fill = look_of(name)
        for begin, end in spans:
            canvas.box(scale * begin, LANE * n, scale * (end - begin), LANE - 3, colour=colour, fill=fill, edge=0.5)
        begin, end = scale * spans[0][0], scale * max(end for _, end in spans)
        has_room = canvas.left + begin > 60
        # A wide figure also names the thread.
        words = name if is_wide else name.partition(", thread")[0]
        canvas.text(begin - 5 if has_room else end + 5, LANE * (n + 0.5) - 1.5, words, SMALL,
                    ha="right" if has_room else "left")


def draw_timeline(canvas, rows):
    """Draws one row per stage and one bar per phase, with lanes below for the intervals that overlap the phases."""
    left, right, y = 170 if canvas.is_wide else 4, 46, 44
    scale = (canvas.width - left - right) / max(times.end for times in rows.values())
    canvas.part(left, 10).key(0, 0, *((*look, name) for name, look in PHASES.items()), gap=8)
    if any(look_of(phase) == OTHER for times in rows.values() for phase in (*times.phases, *times.beside)):
        canvas.part(left, 26).key(0, 0, (*OTHER, "others"))
    for name, times in rows.items():
        bar, x = y, left
        if canvas.is_wide:
            canvas.text(left - 8, bar + 11, name, SMALL, ha="right")
        else:
            canvas.text(left, bar, name, SMALL, ha="left")
            bar += 8
        for phase, seconds in times.phases.items():
            colour, fill = look_of(phase)
            canvas.box(x, bar, scale * seconds, 22, colour=colour, fill=fill, edge=0.5)
            x += scale * seconds
        canvas.text(x + 4, bar + 11, figures.seconds_text(times.in_all), SMALL, ha="left")
        draw_lanes(canvas.part(left, bar + 26), times.beside, scale, canvas.is_wide)
        y += height_of(times, canvas.is_wide)


def spans_text(name, spans):
    """The intervals of one name that overlap the phases, in words."""
    begin, end, in_all = (figures.seconds_text(seconds) for seconds in (
        spans[0][0], max(end for _, end in spans), sum(end - begin for begin, end in spans)))
    return f"{name} from {begin} to {end}, {in_all} in {len(spans)} interval{'s' * (len(spans) > 1)}"


def times_text(times):
    """The times of a stage's phases, in words."""
    text = ", ".join(f"{phase} {figures.seconds_text(seconds)}" for phase, seconds in times.phases.items())
    beside = ", ".join(spans_text(*item) for item in times.beside.items())
    return f"{text}; intervals that overlap the phases: {beside}" if beside else text


def timeline(words, workloads, results):
    """A timeline to scale: the phases of the stages that copy data, for one problem."""
    if len(words) < 4 or words[1] not in workloads:
        raise figures.UnknownKey("a timeline is named machine.workload.dataset.precision, and stages may follow")
    runs, chosen = results.runs(*words[:4]), words[4:]
    rows = {record["stage"]: times_of(record) for record in plots.timed(run for run, _ in runs)}
    rows = {name: times for name, times in rows.items()
            if any(what.startswith("copy in") for what in times.phases | times.beside)
            and (not chosen or name in chosen)}
    missing = [name for name in chosen if name not in rows] or ([] if rows else ["any stage"])
    if missing:
        raise figures.UnknownKey(f"no phase 'copy in' of {missing[0]} on {' '.join(words[:4])} is recorded")
    problem = f"{words[1]}, {words[2]}, {words[3]}"
    with_lanes = " and ".join(name for name, times in rows.items() if times.beside)
    told = "; ".join(f"{name}: {times_text(times)}" for name, times in rows.items())
    lanes = (f"For {with_lanes}, the repeat with the median total is shown; the lanes below its phases are intervals that overlap "
             "them, on the GPU by its own clock. " if with_lanes else "")
    return Diagram(f"The phases of {problem}",
                   f"The phases of {problem}, one after the other. {told}.",
                   f"{problem}: entire solves to scale, phase by phase. {lanes}{figures.sources_text(runs)}.",
                   {width: 40 + extra + sum(height_of(times, width == "wide") for times in rows.values())
                    for width, extra in (("wide", 0), ("narrow", 8))},
                   lambda canvas: draw_timeline(canvas, rows))
