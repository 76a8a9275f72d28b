"""Diagrams of what is recorded: the stages of a workload as a map, and the phases of each over time."""

import re
import statistics
import textwrap

import figures
import plots
from drawing import BLUE, GREEN, INK, ORANGE, PURPLE, SMALL, Diagram

COLOURS = {"cpu": BLUE, "gpu": ORANGE}  # as in a ladder
PHASES = {"allocate": (INK, 0.12), "copy in": (BLUE, 0.35), "kernels": (ORANGE, 0.7), "copy out": (GREEN, 0.45)}
OTHER = PURPLE, 0.45


def transformations(root):
    """By the label of a stage, the transformations that its step is about: those with a gain, if any has one."""
    page = (root / "docs" / "pages" / "transformations.md").read_text()
    of_stage = {}
    for title, section in re.findall(r"^### ([^\n]+) \{#\w+\}\n(.*?)(?=^##|\Z)", page,
                                     re.MULTILINE | re.DOTALL):
        for label, cells in re.findall(r"^\|[^|\n]*\\ref (\w+)(.*)$", section, re.MULTILINE):
            gains = " ×<!--" in cells.rstrip("| ").rpartition("|")[2]
            of_stage.setdefault(label, []).append((re.sub(r" \(.*\)|,.*", "", title), gains))
    return {label: [title for title, gains in found if gains] or [title for title, _ in found]
            for label, found in of_stage.items()}


def ratio_text(runs, before, after):
    """How many times as fast a stage is as the one before, if a recording holds both."""
    for run, _ in runs:
        records = figures.by_stage(run)
        if all("seconds" in records.get(name, {}) for name in (before, after)):
            ratio = figures.figure("speedup", [records[before], records[after]])
            return f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:.3g} ×"
    return ""


def draw_box(canvas, stage, record, width, height):
    """A stage with its time."""
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
    """Three stages a row, from left to right."""
    width, height, gap, down = 166, 50, 149, 104
    for n, stage in enumerate(of_workload):
        x, y = (width + gap) * (n % 3), 4 + down * (n // 3)
        draw_box(canvas.part(x, y), stage, records.get(stage.name), width, height)
        if n + 1 == len(of_workload):
            break
        names, ratio = steps[n]
        label = ", ".join(names).capitalize()
        if n % 3 < 2:
            middle = x + width + gap / 2
            canvas.arrow((x + width + 4, y + height / 2), (x + width + gap - 4, y + height / 2))
            lines = textwrap.wrap(label, 24)
            canvas.text(middle, y + height / 2 - 5 - 6 * len(lines), "\n".join(lines), SMALL)
            canvas.text(middle, y + height / 2 + 12, ratio, SMALL)
        else:
            turn = y + height + (down - height) / 2
            canvas.line((x + width / 2, y + height), (x + width / 2, turn), (width / 2, turn))
            canvas.arrow((width / 2, turn), (width / 2, y + down - 1))
            canvas.text(canvas.width / 2, turn - 9, f"{label}  {ratio}".strip(), SMALL)


def draw_narrow(canvas, of_workload, records, steps):
    """A stage below the other."""
    height, down = 30, 60
    for n, stage in enumerate(of_workload):
        y = 2 + down * n
        draw_box(canvas.part(2, y), stage, records.get(stage.name), canvas.width - 4, height)
        if n + 1 < len(of_workload):
            names, ratio = steps[n]
            canvas.arrow((24, y + height + 1), (24, y + down - 1))
            canvas.text(34, y + height + 15, f"{', '.join(names).capitalize()}  {ratio}".strip(), SMALL,
                        ha="left")


def steps_of(of_workload, runs):
    """Yields for each stage but the first its transformations, two at most, and what it gained."""
    known = transformations(of_workload[0].source.parents[3])
    for before, after in zip(of_workload, of_workload[1:]):
        yield known.get(after.page, [])[:2], ratio_text(runs, before.name, after.name)


def told_of(stage, record):
    """A stage in words."""
    if not record:
        return f"{stage.heading}, not recorded"
    return f"{stage.heading}, {figures.seconds_text(plots.median(record))} on the {record['device'].upper()}"


def map_of_stages(words, workloads, results):
    """The stages of a workload with their times on a problem, and what leads from each to the next."""
    if len(words) != 4 or words[1] not in workloads:
        raise figures.UnknownKey("a map is named machine.workload.dataset.precision")
    of_workload, runs = workloads[words[1]], results.runs(*words)
    records = {record["stage"]: record for record in plots.timed(run for run, _ in runs)}
    steps = list(steps_of(of_workload, runs))
    told = [told_of(stage, records.get(stage.name)) for stage in of_workload]
    for n, (names, ratio) in enumerate(steps):
        told[n + 1] = ", ".join(filter(None, (" and ".join(names).lower(), ratio, f"to {told[n + 1]}")))
    problem = f"{words[1]}, {words[2]}, {words[3]}"
    draw = {True: draw_wide, False: draw_narrow}
    return Diagram(
        f"The stages of {problem}",
        f"The stages of {problem}, and what leads from one to the next: {'; '.join(told)}.",
        f"{problem}: blue on the processor, orange on the GPU; on the arrows the transformations that a "
        "step is about, and how many times as fast the stage is as the one before, both in one recording. "
        f"{plots.recordings_text(runs)}.",
        {"wide": 62 + 104 * ((len(of_workload) - 1) // 3), "narrow": 60 * len(of_workload) - 26},
        lambda canvas: draw[canvas.is_wide](canvas, of_workload, records, steps))


def phases_of(record):
    """The phases of a stage in their order, each with its median over the repeats."""
    return {phase: statistics.median(repeat["phases"][phase] for repeat in record["repeats"])
            for phase in record["repeats"][0]["phases"]}


def draw_timeline(canvas, rows):
    """A row a stage, a bar a phase."""
    left, pitch = (170, 34) if canvas.is_wide else (4, 46)
    right, top = 46, 44
    scale = (canvas.width - left - right) / max(sum(phases.values()) for phases in rows.values())
    canvas.part(left, 10).key(0, 0, *((*look, name) for name, look in PHASES.items()), gap=8)
    if any(phase not in PHASES for phases in rows.values() for phase in phases):
        canvas.part(left, 26).key(0, 0, (*OTHER, "others"))
    for n, (name, phases) in enumerate(rows.items()):
        y, x = top + pitch * n, left
        if canvas.is_wide:
            canvas.text(left - 8, y + 11, name, SMALL, ha="right")
        else:
            canvas.text(left, y, name, SMALL, ha="left")
            y += 8
        for phase, seconds in phases.items():
            colour, fill = PHASES.get(phase, OTHER)
            canvas.box(x, y, scale * seconds, 22, colour=colour, fill=fill, edge=0.5)
            x += scale * seconds
        canvas.text(x + 4, y + 11, figures.seconds_text(sum(phases.values())), SMALL, ha="left")


def timeline(words, workloads, results):
    """What the stages of a problem that copy spend their time on, to scale."""
    if len(words) != 4 or words[1] not in workloads:
        raise figures.UnknownKey("a timeline is named machine.workload.dataset.precision")
    runs = results.runs(*words)
    rows = {record["stage"]: phases_of(record) for record in plots.timed(run for run, _ in runs)
            if "copy in" in record["repeats"][0]["phases"]}
    if not rows:
        raise figures.UnknownKey(f"no phase 'copy in' of {' '.join(words)} is recorded")
    problem = f"{words[1]}, {words[2]}, {words[3]}"
    told = [f"{name}: " + ", ".join(f"{phase} {figures.seconds_text(seconds)}"
                                    for phase, seconds in phases.items()) for name, phases in rows.items()]
    return Diagram(f"The phases of {problem}",
                   f"The phases of {problem}, one after the other. {'; '.join(told)}.",
                   f"{problem}, whole solves to scale, phase by phase. {plots.recordings_text(runs)}.",
                   {"wide": 40 + 34 * len(rows), "narrow": 48 + 46 * len(rows)},
                   lambda canvas: draw_timeline(canvas, rows))
