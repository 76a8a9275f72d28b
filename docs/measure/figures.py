"""The figures of recorded runs: finds the run that a key names, and formats figures."""

import pathlib
import statistics

from measure import recordings

SCALE = {"s": 1, "ms": 1e3, "µs": 1e6, "ns": 1e9, "MB": 1e-6, "GB": 1e-9, "GB/s": 1e-9, "TB/s": 1e-12,
         "GFLOP/s": 1e-9, "TFLOP/s": 1e-12, "%": 100}


class UnknownKey(Exception):
    """A key that does not name a recorded value."""


def value_text(value):
    """The value of a sweep as text, for one parameter or several."""
    return "×".join(f"{number:g}" for number in (value if isinstance(value, list) else [value]))


class Results:
    """The recorded runs below docs/results."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.machines = {}
        self.sweeps = {}  # the sweeps, by machine and name
        self.others = {}  # recordings of another kind, by machine and name; they contain named figures
        for path in sorted(self.directory.glob("*/*.json")):
            recording = recordings.read(path) | {"name": path.stem}
            if "sweep" in recording:
                self.sweeps[path.parent.name, path.stem] = recording
            elif "runs" in recording:  # the counters of a profiler are another kind of recording
                self.machines.setdefault(path.parent.name, []).append(recording)
            elif "figures" in recording:
                self.others[path.parent.name, path.stem] = recording
        for machine in {machine for machine, _ in self.sweeps} | self.machines.keys():
            name_hosts(self.recordings(machine))

    def recordings(self, machine):
        """All recordings of a machine, including sweeps, ordered by name."""
        sweeps = [sweep for (of, _), sweep in self.sweeps.items() if of == machine]
        return sorted(self.machines.get(machine, []) + sweeps, key=lambda recording: recording["name"])

    def runs(self, machine, workload, dataset, precision):
        """The runs of one problem, each with the recording that contains it, ordered by revision with the newest first.

        Among runs of the same revision, which were recorded in one session, the run with the most repeats comes first.
        """
        sweep = self.sweeps.get((machine, workload))

        def solves(run):
            names = ([workload, value_text(run["value"])] if sweep else [run["workload"], run["dataset"]])
            return names + [run["precision"]] == [workload, dataset, precision]

        found = [(run, recording) for recording in ([sweep] if sweep else self.machines.get(machine, []))
                 for run in recording["runs"] if solves(run)]
        if not found:
            raise UnknownKey(f"no run of {workload} {dataset} {precision} on {machine} is recorded")
        newest = {}  # the latest date of each revision
        for _, recording in found:
            revision, date = recording.get("revision"), recording.get("date", "")
            newest[revision] = max(date, newest.get(revision, ""))
        return sorted(found, key=lambda run: (newest[run[1].get("revision")], repeats(run[0]),
                                              run[1].get("date", "")), reverse=True)

    def problems(self, workload, machine):
        """The data sets and precisions of a workload that are recorded on a machine, ordered by precision (f64 first) and
        then by problem size."""
        work = {}
        for recording in self.machines.get(machine, []):
            for run in recording["runs"]:
                for record in timed(run) if run["workload"] == workload else ():
                    work[run["precision"] == "f32", record["modelled"]["flops"], run["dataset"]] = run["precision"]
        return list(dict.fromkeys((dataset, precision) for (_, _, dataset), precision in sorted(work.items())))

    def newest(self, machine, workload, dataset, precision, stage):
        """The newest run of a problem that contains times of a stage, with its recording; None if there is none."""
        for run, recording in self.runs(machine, workload, dataset, precision):
            if any(record["stage"] == stage for record in timed(run)):
                return run, recording
        return None

    def sweep(self, machine, name):
        """A recording over the values of a parameter."""
        if (machine, name) not in self.sweeps:
            raise UnknownKey(f"no sweep {name} on {machine} is recorded")
        return self.sweeps[machine, name]

    def other(self, machine, name):
        """A recording that does not consist of runs of stages."""
        if (machine, name) not in self.others:
            raise UnknownKey(f"no recording {name} of {machine} has figures")
        return self.others[machine, name]

    def ceiling(self, machine, workload, names):
        """A ceiling of a machine's processor, or of its GPU if the first name is `gpu`.

        For a workload, this is the ceiling of a recording that contains the workload. For the processor, the recording with
        the most programs of the workload on the processor is used.
        """
        def timed_there(recording):
            runs = [run for run in recording["runs"] if run["workload"] == workload]
            if names[0] == "gpu":
                return min(len(runs), 1)
            return sum(record.get("device") == "cpu" for run in runs for record in run["records"])

        recordings = self.machines.get(machine, [])
        if workload:
            recordings = sorted(filter(timed_there, recordings), key=timed_there, reverse=True)
        for recording in recordings:
            ceilings = recording["ceilings"]
            if names[0] == "gpu":
                ceilings = ceilings.get("gpu", {})
            if names[-1] in ceilings:
                return ceilings[names[-1]]
        raise UnknownKey(f"no ceiling '{' '.join(names)}' of {machine} is recorded")

    def value(self, key):
        """The recorded value that a key names, in SI units."""
        words = key.split()
        if len(words) > 2 and words[1] == "ceilings":
            return self.ceiling(words[0], None, words[2:])
        if len(words) > 3 and words[2] == "ceilings":
            return self.ceiling(*words[:2], words[3:])
        if len(words) == 4 and words[2] == "figures":
            recorded = self.other(*words[:2])["figures"]
            if words[3] not in recorded:
                raise UnknownKey(f"there is no figure '{words[3]}' in {words[1]} of {words[0]}")
            return recorded[words[3]]
        if len(words) < 6:
            raise UnknownKey("a key has six words: machine workload dataset precision stage figure")
        stages = words[4].split("/")
        runs = [by_stage(run) for run, _ in self.runs(*words[:4])]
        if words[5] == "error":  # the reference stage has no error
            runs = [{name: record for name, record in records.items() if record.get("verdict") != "reference"}
                    for records in runs]
        for records in runs:
            if all("seconds" in records.get(stage, {}) for stage in stages):
                return figure(" ".join(words[5:]), [records[stage] for stage in stages])
        missing = [stage for stage in stages if all(stage not in records for records in runs)]
        raise UnknownKey(f"the stage {missing[0]} is not in the recorded run" if missing else
                         f"no recorded run holds both {' and '.join(stages)}")


MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
ORDINALS = ("", *(f"{word} " for word in ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
                                          "twelfth")))


def name_hosts(recordings):
    """Names the host of each recording of a machine, if there are several hosts: recordings of one host have equal ceilings.

    A GPU may be combined with another processor in each recording, or with another share of a processor. Ceilings are
    measured once per host, so a host is named by the date of its first recording: "host of 24 November 2026", "second
    host of 24 November 2026".
    """
    by_date = sorted(recordings, key=lambda recording: recording.get("date", ""))
    known = [ceilings for n, ceilings in enumerate(each["ceilings"] for each in by_date)
             if all(ceilings != before["ceilings"] for before in by_date[:n])]
    first = [date_text(next(each for each in by_date if each["ceilings"] == ceilings)) for ceilings in known]
    names = [f"{ORDINALS[first[:n].count(date)]}host of {date}" for n, date in enumerate(first)]
    for recording in recordings:
        recording["host"] = names[known.index(recording["ceilings"])] if len(known) > 1 else ""


def date_text(recording):
    """The date of a recording in words."""
    year, month, day = map(int, recording.get("date", "2000-01-01")[:10].split("-"))
    return f"{day} {MONTHS[month - 1]} {year}"


def repeats(run):
    """The largest number of times that a stage of a run was timed."""
    return max((len(record.get("repeats", [])) for record in run["records"]), default=0)


def timed(run):
    """The records of a run that contain times. Old records with a remark are excluded, because the stage did not follow its
    idea in these records."""
    return [record for record in run["records"] if "seconds" in record
            and not any("remark" in repeat for repeat in record.get("repeats", ()))]


def by_stage(run):
    """The records of a run, by stage."""
    return {record["stage"]: record for record in run["records"]}


def seconds_text(seconds):
    """A time in a fitting unit."""
    for unit in ("s", "ms", "µs"):
        if float(f"{SCALE[unit] * seconds:.3g}") >= 1:
            break
    return f"{SCALE[unit] * seconds:.3g} {unit}"


def rate_text(flops):
    """A rate of arithmetic in a fitting unit."""
    return f"{flops / 1e12:.3g} TFLOP/s" if flops >= 1e12 else f"{flops / 1e9:.3g} GFLOP/s"


def bandwidth_text(bytes_per_second):
    """A bandwidth in a fitting unit."""
    return (f"{bytes_per_second / 1e12:.3g} TB/s" if bytes_per_second >= 1e12 else
            f"{bytes_per_second / 1e9:.3g} GB/s")


def host_text(recording):
    """The processor of a recording, with its host and its speed if the machine had several hosts."""
    machine = recording["machine"]
    text = f"{machine['cpu']}, {machine['cores']} cores"
    if recording["host"]:
        text += f" at {rate_text(recording['ceilings']['flops_f64'])} in f64"
    return f"{text}, {machine['system']}, {machine['compiler']}"


def devices_text(recording):
    """The GPU of a recording, if the recording uses a GPU, and its processor."""
    names = {record["device_name"] for run in recording["runs"] for record in run["records"]
             if record.get("device") == "gpu"}
    host = recording["host"] or ("host" if names else "")
    return "; ".join([*sorted(names), f"{host}{': ' if host else ''}{host_text(recording)}"])


def when_text(recording, repeats=None):
    """Date and revision of a recording, and the number of repeats of its medians."""
    medians = f"medians of {repeats}; " if repeats else ""
    return f"{medians}{date_text(recording)}, revision {recording['revision']}"


def recording_text(recording, repeats=None):
    """Machine, date and revision of a recording, and the number of repeats of its medians."""
    return f"{devices_text(recording)}; {when_text(recording, repeats)}"


def sources(runs):
    """Maps each stage in `runs` to the first record with its times, and to the recording that contains this record. `runs`
    contains pairs of a run and its recording."""
    found = {}
    for run, recording in runs:
        for record in timed(run):
            found.setdefault(record["stage"], (record, recording))
    return dict(sorted(found.items()))


def sources_text(runs):
    """The recordings from which the times of some runs come, with the stages of each recording if there are several."""
    return hosts_text((stage.removeprefix("baseline_") if stage.startswith("baseline_") else stage[:2], recording,
                       len(record["repeats"])) for stage, (record, recording) in sources(runs).items())


def names_text(names):
    """Names in a list. Three or more consecutive numbers are replaced by the first and the last."""
    rows = []
    for name in names:
        last = rows[-1][-1] if rows else ""
        if name.isdigit() and last.isdigit() and int(name) == int(last) + 1:
            rows[-1].append(name)
        else:
            rows.append([name])
    return ", ".join(f"{row[0]}–{row[-1]}" if len(row) > 2 else ", ".join(row) for row in rows)


def hosts_text(sources):
    """The hosts of some recordings, each named once, with the stages from each if there are several. `sources` yields
    (name, recording, repeats)."""
    hosts = {}  # the names, by machine, and then by date and revision
    for name, recording, count in sources:
        names = hosts.setdefault(devices_text(recording), {}).setdefault(when_text(recording, count), [])
        if name not in names:
            names.append(name)
    if len(hosts) == 1 and len(next(iter(hosts.values()))) == 1:
        return "; ".join(f"{host}; {when}" for host, found in hosts.items() for when in found)
    texts = []
    for host, found in hosts.items():
        if len(found) == 1:
            texts += [f"{names_text(names)}: {host}; {when}" for when, names in found.items()]
        else:
            texts.append(f"{host}: " + ", ".join(f"{names_text(names)} ({when})" for when, names in found.items()))
    return "; ".join(texts)


def phase_seconds(repeat, phase):
    """The time of a phase in seconds, or the sum of the intervals with that name that overlap the phases; None if there
    is neither."""
    spans = [span["end"] - span["begin"] for span in repeat.get("beside", []) if span["name"] == phase]
    return repeat["phases"].get(phase, sum(spans) if spans else None)


def figure(name, records):
    """A figure of one stage, or a figure that compares two stages."""
    record = records[0]
    if name == "speedup":
        return record["seconds"]["median"] / records[1]["seconds"]["median"]
    if name == "efficiency":
        return figure("speedup", records) / record["machine"]["cores"]
    if name == "speedup_in_all":
        return figure("in_all", records) / figure("in_all", records[1:])
    if name == "seconds":
        return record["seconds"]["median"]
    if name == "in_all":
        return statistics.median(repeat["seconds"] for repeat in record["repeats"])
    if name == "memory":
        return record["memory"]["peak_bytes"]
    if name in ("error", "of_limit", "of_copy") and name in record:
        return record[name]
    if name == "times_copy":
        return record["seconds"]["median"] / figure("copy_seconds", records)
    copies = [repeat["copy_seconds"] for repeat in record["repeats"] if "copy_seconds" in repeat]
    if name == "copy_seconds" and copies:
        return statistics.median(copies)
    phase = name.removeprefix("phase:")
    times = [time for repeat in record["repeats"] if (time := phase_seconds(repeat, phase)) is not None]
    if phase == name or not times:
        raise UnknownKey(f"no figure '{name}' is recorded")
    return statistics.median(times)
