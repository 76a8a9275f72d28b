"""Compares the contents of arrays, launch by launch, with those of the stage, and reports the first launch before or
after which a value is wrong.

The CPU device writes the arrays of each launch to a file; see common/cuda_on_cpu/src/analysis/contents.hpp.
"""

import array
import dataclasses
import json
import math
import re
import struct

import comparing
import launches
import naming
import rules

# The largest difference between values that count as equal, relative to the largest value of an array, by the size of a
# value in bytes.
NEAR = {8: 1e-10, 4: 1e-4}
SHOWN = 2  # number of different arrays of a launch whose first different values are shown
TYPES = {"double": "d", "float": "f", "int": "i", "unsigned": "I", "unsigned int": "I", "std::size_t": "Q", "size_t": "Q",
         "std::uint32_t": "I", "std::uint64_t": "Q", "std::int64_t": "q", "std::int32_t": "i"}


@dataclasses.dataclass
class Record:
    """A launch before or after it ran: the kernel, the index of the launch among those of the kernel, and for each argument
    that is an array its possible extents, its bytes (None: too large), and the number of its allocation."""

    when: str
    kernel: str
    launch: int
    words: list
    bytes: list
    numbers: list
    others: list  # the other words of eight bytes in the arguments: pairs of the index and the value


def records_in(data):
    """The records in the bytes of a file."""
    records, last, counts, begin = [], {}, {}, 0
    while (end := data.find(b"\n", begin)) >= 0:
        line = json.loads(data[begin:end])
        begin = end + 1
        key = line["when"], line["kernel"]
        counts[key] = counts.get(key, 0) + 1
        for each in line["arrays"]:
            if each["changed"]:
                last[each["number"]] = data[begin:begin + each["bytes"]]
                begin += each["bytes"]
        records.append(Record(line["when"], line["kernel"], counts[key], [each["words"] for each in line["arrays"]],
                              [last[each["number"]][each["offset"]:] if each["number"] in last else None
                               for each in line["arrays"]],
                              [each["number"] for each in line["arrays"]], line["others"]))
    return records


def type_of(declaration, size):
    """The type code of the elements of an array, from its declaration. Other types consist of values of `size` bytes."""
    found = naming.element_type_of(declaration)
    return TYPES.get(found, "d" if size == 8 else "f")


@dataclasses.dataclass
class Named:
    """An array of a launch as numbers: its name in the source, its extents, and the number of values of an element."""

    name: str
    shape: tuple
    values: array.array

    def element(self, place):
        """The element that contains a value, as text."""
        extents, rest = self.shape[:-1] if self.is_structure else self.shape, place
        per_element = self.shape[-1] if self.is_structure else 1
        rest, value = divmod(rest, per_element)
        places = []
        for extent in reversed(extents):
            rest, index = divmod(rest, extent)
            places.insert(0, str(index))
        which = f"value {value} of " if self.is_structure else ""
        return f"{which}{self.name}({', '.join(places)})"

    is_structure: bool = False


def named(record, place, names, size):
    """The array of an argument as numbers, or None."""
    data = record.bytes[place]
    declaration, name = names[place] if len(names) == len(record.bytes) else ("", f"array{place + 1}")
    code = type_of(declaration, size)
    width = array.array(code).itemsize
    if data is None or len(data) % width:
        return None
    values = array.array(code)
    values.frombytes(data)
    extents = record.words[place][:naming.rank_of(declaration)]
    elements = math.prod(extents)
    if "View" in declaration and 0 < elements <= len(values):
        is_structure = len(values) % elements == 0 and naming.element_type_of(declaration).endswith(">")
        per_element = len(values) // elements if is_structure else 1
        values = values[:elements * per_element]
        return Named(name, (*extents, per_element), values, True) if per_element > 1 else Named(name, tuple(extents), values)
    return Named(name, (len(values),), values)


def wrong_values(mine, own):
    """The positions of the values that differ from the stage's. A value that is not finite in the stage does not count:
    nothing uses it."""
    if mine.values.typecode in "df":
        largest = max((abs(value) for value in own.values if math.isfinite(value)), default=0.0)
        near = NEAR[mine.values.itemsize] * largest
        return [place for place, (value, wanted) in enumerate(zip(mine.values, own.values)) if math.isfinite(wanted)
                and not abs(value - wanted) <= near]
    return [place for place, (value, wanted) in enumerate(zip(mine.values, own.values)) if value != wanted]


def differing_arrays(record, other, names, size):
    """Yields the arrays of a launch that differ from the stage's: both arrays, and the positions of the different values.
    An array is yielded once, even if several arguments point to it."""
    seen = set()
    for place, number in enumerate(record.numbers):
        mine, own = named(record, place, names, size), named(other, place, names, size)
        if number in seen or mine is None or own is None or len(mine.values) != len(own.values):
            continue
        seen.add(number)
        if mine.values.tobytes() != own.values.tobytes() and (wrong := wrong_values(mine, own)):
            yield mine, own, wrong


def launch_text(record, count):
    """A launch as text: its kernel and, if there are several launches of it, its index."""
    return f"launch {record.launch} of {record.kernel}" if count > 1 else f"the launch of {record.kernel}"


def differences_text(mine, own, wrong):
    """A sentence about the values of an array that differ from the stage's."""
    first = wrong[0]
    count = len(mine.values)
    digits = 9 if f"{mine.values[first]:.9g}" != f"{own.values[first]:.9g}" else 17
    value, wanted = (f"{each.values[first]:.{digits}g}" for each in (mine, own))
    how_many = "all values differ" if len(wrong) == count else f"{len(wrong)} of {count} values differ"
    all_of_them = f"; {how_many}" if count > 1 else ""
    box = comparing.box_text(mine.shape[:-1], [place // mine.shape[-1] for place in wrong]) if mine.is_structure else (
        comparing.box_text(mine.shape, wrong))
    return f"{mine.element(first)} is {value} (stage: {wanted}){all_of_them}" + (f", {box}" if box else "")


def guesses_of(mine, own, wrong):
    """At most one sentence about a pattern in the values that differ."""
    if mine.values.typecode not in "df" or mine.is_structure or len(wrong) == 1:
        return []
    places = set(wrong)
    reference = array.array(own.values.typecode, [wanted if place in places or math.isfinite(wanted) else 0.0
                                                  for place, wanted in enumerate(own.values)])
    values = array.array(reference.typecode, [value if place in places else wanted
                                              for place, (value, wanted) in enumerate(zip(mine.values, reference))])
    tolerance = {"relative": NEAR[reference.itemsize], "scale": "given", "floor": max(map(abs, reference), default=0.0)}
    if not all(math.isfinite(values[place]) for place in wrong):
        return []
    return comparing.differences(comparing.Solution(mine.shape, values), comparing.Solution(mine.shape, reference),
                                 tolerance)[1:]


def stores_of(report, kernel, name, places, text):
    """The lines of a kernel that store to an array, as text; empty if there are none or many."""
    lines = text.splitlines()
    last = name.split(".")[-1]
    found = []
    for each in report.get("kernels", []):
        for line in each["lines"] if each["kernel"] == kernel else ():
            code = lines[line["line"] - 1] if 0 < line["line"] <= len(lines) else ""
            if line["access"] in ("global store", "global atomic") and re.search(rf"\b{last}\s*[(\[]", code):
                found.append((launches.place_of(places, line), code.strip()))
    stores = [f"{place}: {code}" for place, code in dict.fromkeys(found)]
    return ["stored by " + "; and by ".join(stores)] if 0 < len(stores) <= 2 else []


def order_of(mine, own, text):
    """A sentence about the first launch of another kernel than in the stage; None if there is none, or if the kernels have
    other names."""
    kernels, others = ([record.kernel for record in each if record.when == "before"] for each in (mine, own))
    if kernels == others or not set(kernels) <= set(others):
        return None
    defined = {name for name, *_ in rules.kernels(rules.without_comments(text))}
    if missing := sorted((set(others) - set(kernels)) & defined):
        return f"the source never launches {launches.joined(missing)} (stage: {others.count(missing[0])} times)"
    if set(kernels) != set(others):
        return None
    number = next((number for number, pair in enumerate(zip(kernels, others)) if pair[0] != pair[1]),
                  min(len(kernels), len(others)))
    if number == len(kernels):
        return (f"after launch {number}, of {kernels[-1]}, the stage launches {others[number]}, and your program launches "
                "nothing more")
    if number == len(others):
        return f"launch {number + 1} is of {kernels[number]}, and the stage has only {number} launches"
    return (f"launch {number + 1} is of {kernels[number]}, but in the stage it is of {others[number]}: are launches missing "
            "or in another order?")


def as_number(word):
    """A word of eight bytes as a number, if it is clearly an integer or a floating-point number; otherwise None."""
    if word < 1 << 32:
        return word
    value, = struct.unpack("<d", struct.pack("<Q", word))
    return value if math.isfinite(value) and 1e-30 < abs(value) < 1e30 else None


def of_arguments(record, other, text, size):
    """A sentence about the first number that a launch gets as an argument and that differs from the stage's, or None."""
    places, own = dict(map(tuple, record.others)), dict(map(tuple, other.others))
    if places.keys() != own.keys():
        return None
    known, end = naming.numbers_of(text, record.kernel, size)
    for name, offset, width, is_real in known:
        if offset // 8 not in places:
            continue
        mine, wanted = (each[offset // 8].to_bytes(8, "little")[offset % 8:offset % 8 + width] for each in (places, own))
        if mine != wanted:
            code = {(4, False): "<I", (8, False): "<Q", (4, True): "<f", (8, True): "<d"}[width, is_real]
            (one,), (two,) = struct.unpack(code, mine), struct.unpack(code, wanted)
            if not is_real or abs(one - two) > 1e-6 * abs(two):
                return f"{one:.9g} as {name} (stage: {two:.9g})"
    for place, word in places.items():
        mine, wanted = as_number(word), as_number(own[place])
        if 8 * place < end or word == own[place] or mine is None or wanted is None or (
                isinstance(mine, float) and abs(mine - wanted) <= 1e-6 * abs(wanted)):
            continue
        name = naming.only_integer(text, record.kernel) if isinstance(mine, int) else None
        return f"{mine:.9g} as {name or 'an argument'} (stage: {wanted:.9g})"
    return None


@dataclasses.dataclass
class Difference:
    """The first array that differs from the stage's after a launch."""

    mine: Named
    own: Named  # the stage's
    wrong: list  # positions of the values that differ
    before: Named | None  # the array before the launch, if it is known
    arrays: list  # all arrays of the launch, after the launch


def of_changes(difference):
    """A sentence if a launch has changed the different values by the right amounts with the wrong sign, by multiples of
    them, or not at all; None otherwise."""
    if difference.before is None or len(difference.before.values) != len(difference.mine.values):
        return None
    if difference.mine.values.typecode not in "df":
        return None
    before, mine, own = (each.values for each in (difference.before, difference.mine, difference.own))
    changes = [(mine[place] - before[place], own[place] - before[place]) for place in difference.wrong]
    if not all(math.isfinite(change) and math.isfinite(right) and right for change, right in changes):
        return None
    ratios = {round(change / right, 6) for change, right in changes}
    if len(ratios) != 1:
        return None
    ratio = ratios.pop()
    if ratio == 0:
        return "the launch does not change these values, and in the stage it does"
    if ratio == -1:
        return ("each of these values is changed by the right amount with the wrong sign: is something added instead of "
                "subtracted?")
    return f"each of these values is changed by {ratio:g} times the right amount" if comparing.is_simple(ratio) else None


def difference_of(record, earlier, found, names, size):
    """The first difference of a launch; `earlier` is the record before the launch."""
    mine, own, wrong = found[0]
    arrays = [named(record, place, names, size) for place in range(len(record.bytes))]
    place = next((place for place, each in enumerate(arrays) if each is not None and each.name == mine.name), None)
    is_known = earlier is not None and place is not None and len(earlier.bytes) == len(record.bytes)
    before = named(earlier, place, names, size) if is_known else None
    return Difference(mine, own, wrong, before, [each for each in arrays if each is not None])


def of_contents(report, stages, text, places, size, explain=None):
    """Sentences about the first launch whose arrays differ from the stage's. `explain` makes a sentence of a Difference, or
    returns None."""
    mine, own = report.get("contents", []), stages.get("contents", [])
    if not mine or not own:
        return []
    if order := order_of(mine, own, text):
        return [order]
    counts = {record.kernel: record.launch for record in mine}
    others, all_of_mine = ({(record.when, record.kernel, record.launch): record for record in each} for each in (own, mine))
    launched = 0
    for record in mine:
        launched += record.when == "before"
        other = others.get((record.when, record.kernel, record.launch))
        if other is None or len(other.bytes) != len(record.bytes):
            continue
        names = naming.arrays_of(text, record.kernel)
        found = list(differing_arrays(record, other, names, size))
        where = launch_text(record, counts[record.kernel])
        if record.when == "before":
            if found:
                return [f"before {where}, an array differs from the stage's: {arrays_text(found)}: is it copied or filled "
                        f"wrongly"
                        + (", or does an earlier launch not store it?" if launched > 1 else "?")]
            if argument := of_arguments(record, other, text, size):
                return [f"{where} gets {argument}"]
        elif found:
            difference = difference_of(record, all_of_mine.get(("before", record.kernel, record.launch)), found, names, size)
            explained = of_changes(difference) or (explain(difference) if explain else None)
            return [f"the arrays that {where} gets are right, and afterwards, {arrays_text(found)}",
                    *([explained] if explained else guesses_of(*found[0])),
                    *stores_of(report, record.kernel, found[0][0].name, places, text)]
    return []


def arrays_text(found):
    """The different arrays of a launch as text: the first different values of some of them, and the names of the others."""
    return "; ".join(differences_text(*each) for each in found[:SHOWN]) + (
        f"; also different: {launches.joined(each[0].name for each in found[SHOWN:])}" if found[SHOWN:] else "")
