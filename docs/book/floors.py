"""The figure that compares lower bounds with measured times: each bound and each time is a mark on a logarithmic scale.

A reader sees which lower bound a stage approaches, and how much its step gained. The workload and the stage declare the operations and
bytes; the ceilings and the times come from one recording.
"""

import html
import math

from book import card, machines
from draw import plots
from measure import figures

SAME = 0.02  # largest relative difference between a lower bound from the declared work and the recorded lower bound
DECADES = {-9: "1 ns", -8: "10 ns", -7: "100 ns", -6: "1 µs", -5: "10 µs", -4: "100 µs", -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s",
           1: "10 s", 2: "100 s", 3: "1000 s"}


def amount_text(amount, unit):
    """An amount in a fitting unit."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if amount >= factor:
            return f"{amount / factor:.3g} {prefix}{unit}"
    return f"{amount:.3g} {unit}"


def floors(record, recording, precision):
    """Yields the lower bounds of a stage, one per ceiling: words and seconds."""
    work = record["modelled"]
    ceilings = recording["ceilings"].get("gpu", {}) if record["device"] == "gpu" else recording["ceilings"]
    plain, matrix, bandwidth = (ceilings.get(key) for key in (
        f"flops_{precision}", f"flops_{precision}_matrix", "copy_bytes_per_second"))
    if not plain or not bandwidth or "of_limit" not in record:
        return
    floor = record["of_limit"] * plots.median(record)

    def is_floor(rate):
        return rate and abs(max(work["flops"] / rate, work["bytes"] / bandwidth) / floor - 1) < SAME

    if not is_floor(plain) and not is_floor(matrix):  # for example, several devices, whose ceilings add up
        yield "lower bound of the problem", floor
        return
    operations = amount_text(work["flops"], "FLOP")
    yield f"{operations} at {figures.rate_text(plain)}", work["flops"] / plain
    if not is_floor(plain):  # the recorded bound uses the rate of tensor cores
        yield f"{operations} on tensor cores at {figures.rate_text(matrix)}", work["flops"] / matrix
    moved = work.get("traffic_bytes")
    what = "moved by its kernels" if moved else "of the problem"
    moved = moved or work["bytes"]
    yield f"{amount_text(moved, 'B')} {what} at {figures.bandwidth_text(bandwidth)}", moved / bandwidth


def rows_of(stage, record, recording, run, precision):
    """The rows of the figure: words, seconds, and the kind of mark."""
    rows = [(words, seconds, "floor") for words, seconds in floors(record, recording, precision)]
    before = figures.by_stage(run).get(stage.before.name, {}) if stage.before else {}
    if "seconds" in before:
        rows.append((f"measured, {stage.before.number}", plots.median(before), f"{before['device']} hollow"))
    return rows + [(f"measured, {stage.number}", plots.median(record), record["device"])]


def floors_html(stage, of_workload, results):
    """The figure of a stage, or nothing if no recorded time can be compared with a lower bound."""
    source = card.source_of(stage, of_workload, results)
    if not source:
        return ""
    (machine, _, dataset, precision), run, recording = source
    rows = rows_of(stage, figures.by_stage(run)[stage.name], recording, run, precision)
    if all(kind != "floor" for *_, kind in rows):
        return ""
    logs = [math.log10(seconds) for _, seconds, _ in rows]
    low, high = math.floor(min(logs)), math.ceil(max(logs) + 1e-9)
    high += high == low

    def at(log):
        return f"left:{100 * (log - low) / (high - low):.1f}%"

    step = 1 if high - low <= 4 else 2 if high - low <= 8 else 3
    ticks = "".join(f'<span style="{at(decade)}">{DECADES.get(decade, "")}</span>' for decade in range(low, high + 1, step))
    lines = "".join(f'<u style="{at(decade)}"></u>' for decade in range(low, high + 1))
    body = "".join(
        f'<tr><th scope="row">{html.escape(words)}</th><td class="scale" aria-hidden="true">{lines}<i class="{kind}" style="{at(log)}"></i>'
        f'</td><td class="n">{figures.seconds_text(seconds)}</td></tr>' for (words, seconds, kind), log in zip(rows, logs))
    title = machines.short_title(results.recordings(machine), machine)
    return ('<figure class="floors"><table><thead><tr><td></td>'
            f'<td class="scale" aria-hidden="true">{ticks}</td><td></td></tr></thead><tbody>{body}</tbody></table>'
            f'<figcaption class="caption">{html.escape(f"{dataset}, {precision}, {title}")}: the time at each ceiling alone, and the '
            "measured times, on a logarithmic scale. The operations are those of the workload.</figcaption></figure>\n")
