"""Recordings as files: JSON with one line per record. A line omits values that its run or its file contains.

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

`sweep` is present if runs have a `value`: it names the parameter with that value. A record takes `machine`, `revision` and
`date` from its file. A record takes the problem from its run, unless the record contains another problem: a record that was
checked on the CPU device solved a smaller problem. The runner writes the same format (common/climb/recording.hpp).
"""

import json

OF_FILE = ("machine", "revision", "date")
OF_PROBLEM = ("parameters", "input")
MOST_SPANS = 2000  # the most intervals kept per repeat of a sweep; more would be megabytes that no figure shows
OF_RUN = ("workload", "dataset", "precision", *OF_PROBLEM)


def line(value):
    """JSON on one line, as the runner writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- Reading

def parse(text):
    """A recording from its text. Every record gets all values that apply to it."""
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
    """The head of a run: all its values except the records, and the problem of the records that solved its data set."""
    problem = next((record for record in run["records"] if record.get("dataset") == run["dataset"]), {})
    return {key: value for key, value in run.items() if key != "records"} | {
        key: problem[key] for key in OF_PROBLEM if key in problem}


def run_text(run, recording):
    """A run as text: one line with the values that its records share, and one line per record."""
    shared = shared_by(run)
    said = {key: recording[key] for key in OF_FILE if key in recording} | {
        key: shared[key] for key in OF_RUN if key in shared}
    records = [line({key: value for key, value in record.items() if key not in said or value != said[key]})
               for record in run["records"]]
    return line(shared)[:-1] + ',"records":[\n' + ",\n".join(records) + "\n]}"


def text_of(recording):
    """The text of a recording whose records contain all values that apply to them."""
    head = "".join(f"{line(key)}:{line(value)},\n" for key, value in recording.items() if key != "runs")
    runs = ",\n".join(run_text(run, recording) for run in recording["runs"])
    return f'{{\n{head}"runs":[\n{runs}\n]\n}}\n'


def drawn(repeats):
    """The repeat whose intervals are drawn: the repeat with the median time of the whole solve."""
    return sorted(repeats, key=lambda repeat: repeat["seconds"])[(len(repeats) - 1) // 2]


def without_many_spans(run):
    """A run of a sweep with only the intervals of the repeat that is drawn, if there are not too many. The other
    repeats keep the total times of their phases."""
    def kept(repeat, repeats):
        few = repeat is drawn(repeats) and len(repeat.get("beside", [])) <= MOST_SPANS
        return {key: value for key, value in repeat.items() if key != "beside" or few}
    return run | {"records": [record | {"repeats": [kept(repeat, record["repeats"]) for repeat in record["repeats"]]}
                              if "repeats" in record else record for record in run["records"]]}


def text_by_entry(document):
    """The text of another kind of recording: objects by name, with one line per entry of each object."""
    def entries(value):
        if not isinstance(value, dict):
            return line(value)
        return "{\n" + ",\n".join(f"{line(key)}:{line(entry)}" for key, entry in value.items()) + "\n}"
    return "{\n" + ",\n".join(f"{line(key)}:{entries(value)}" for key, value in document.items()) + "\n}\n"
