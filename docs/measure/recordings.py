"""Recordings as files: JSON with a line a record, which leaves out what its run or its file says.

    {
    "machine":{...},
    "ceilings":{...},
    "revision":"...",
    "date":"...",
    "sweep":"n",
    "runs":[
    {"workload":"...","dataset":"...","precision":"f64","reference":"...","parameters":{...},"input":null,"records":[
    {"stage":"00_original",...},
    {"stage":"01_openmp",...}
    ]}
    ]
    }

`sweep` is there where runs have a `value`: that of the parameter which it names. A record has `machine`, `revision` and
`date` from its file, and from its run the problem, unless it says otherwise itself: one that was checked on the CPU device
solved a smaller problem. The runner writes the same (common/climb/recording.hpp).
"""

import json

OF_FILE = ("machine", "revision", "date")
OF_PROBLEM = ("parameters", "input")
MOST_SPANS = 2000  # of a repeat in a sweep; more would be megabytes that nobody draws
OF_RUN = ("workload", "dataset", "precision", *OF_PROBLEM)


def line(value):
    """JSON on one line, as the runner writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- Reading

def parse(text):
    """A recording from its text, every record with all that holds for it."""
    recording = json.loads(text)
    for run in recording.get("runs", []):
        shared = {key: recording[key] for key in OF_FILE if key in recording} | {
            key: run[key] for key in OF_RUN if key in run}
        run["records"] = [record | {key: value for key, value in shared.items() if key not in record}
                          for record in run["records"]]
    return recording


def read(path):
    """A recording from its file."""
    return parse(path.read_text())


# --- Writing

def shared_by(run):
    """What opens a run: all but its records, and the problem of those that solved its data set."""
    problem = next((record for record in run["records"] if record.get("dataset") == run["dataset"]), {})
    return {key: value for key, value in run.items() if key != "records"} | {
        key: problem[key] for key in OF_PROBLEM if key in problem}


def run_text(run, recording):
    """A run: a line that says what its records share, and a line a record."""
    shared = shared_by(run)
    said = {key: recording[key] for key in OF_FILE if key in recording} | {
        key: shared[key] for key in OF_RUN if key in shared}
    records = [line({key: value for key, value in record.items() if key not in said or value != said[key]})
               for record in run["records"]]
    return line(shared)[:-1] + ',"records":[\n' + ",\n".join(records) + "\n]}"


def text_of(recording):
    """The text of a recording whose records say all that holds for them."""
    head = "".join(f"{line(key)}:{line(value)},\n" for key, value in recording.items() if key != "runs")
    runs = ",\n".join(run_text(run, recording) for run in recording["runs"])
    return f'{{\n{head}"runs":[\n{runs}\n]\n}}\n'


def drawn(repeats):
    """The repeat whose spans are drawn: the median one by whole solves."""
    return sorted(repeats, key=lambda repeat: repeat["seconds"])[(len(repeats) - 1) // 2]


def without_many_spans(run):
    """A run of a sweep with the spans of the repeat that is drawn, if they are not too many: of the others, what phases
    take in all remains."""
    def kept(repeat, repeats):
        few = repeat is drawn(repeats) and len(repeat.get("beside", [])) <= MOST_SPANS
        return {key: value for key, value in repeat.items() if key != "beside" or few}
    return run | {"records": [record | {"repeats": [kept(repeat, record["repeats"]) for repeat in record["repeats"]]}
                              if "repeats" in record else record for record in run["records"]]}


def text_by_entry(document):
    """The text of another kind of recording: objects by name, of which each entry gets a line."""
    def entries(value):
        if not isinstance(value, dict):
            return line(value)
        return "{\n" + ",\n".join(f"{line(key)}:{line(entry)}" for key, entry in value.items()) + "\n}"
    return "{\n" + ",\n".join(f"{line(key)}:{entries(value)}" for key, value in document.items()) + "\n}\n"
