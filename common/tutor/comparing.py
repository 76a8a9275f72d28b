"""Compares a solution with the solution of stage zero, element by element, and guesses the cause of a difference."""

import array
import ast
import bisect
import dataclasses
import math
import struct

import naming
import stencils


@dataclasses.dataclass
class Solution:
    """An array of floating-point values in row-major order."""

    shape: tuple
    values: array.array

    def index(self, place):
        """The index of an element as text, such as "(2, 0)", from its position in row-major order."""
        places = []
        for extent in reversed(self.shape):
            place, rest = divmod(place, extent)
            places.append(str(rest))
        return "(" + ", ".join(reversed(places)) + ")" if places else "()"


def read_npy(path):
    """Reads a .npy file in the form that stages write: f8 or f4, in row-major order."""
    data = path.read_bytes()
    length, = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode())
    values = array.array({"<f8": "d", "<f4": "f"}[header["descr"]])
    values.frombytes(data[10 + length:])
    return Solution(header["shape"], values)


def scales(reference, tolerance):
    """The scale by which the difference of each element is divided; see Scale in common/harness/compare.hpp."""
    if tolerance["scale"] == "diagonal":
        n = reference.shape[0]
        roots = [math.sqrt(abs(reference.values[i * n + i])) for i in range(n)]
        return [a * b for a in roots for b in roots]
    if tolerance["scale"] == "given":
        return [tolerance["floor"]] * len(reference.values)
    least = tolerance["floor"] * max(map(abs, reference.values), default=0)
    return [max(abs(value), least) for value in reference.values]


def is_wrong(value, wanted, scale, tolerance):
    """Whether the difference of an element exceeds the tolerance. The result is true for values that are not finite."""
    difference = abs(value - wanted)
    return not (difference == 0 or difference <= tolerance["relative"] * scale)


def differences(solution, reference, tolerance):
    """Sentences about the differences, of which the first describes the first wrong element. The result is empty if all
    elements are correct."""
    if solution.shape != reference.shape:
        return [f"the shape is {solution.shape} and must be {reference.shape}"]
    bounds = scales(reference, tolerance)
    wrong = [place for place, (value, wanted, scale) in enumerate(zip(solution.values, reference.values, bounds))
             if is_wrong(value, wanted, scale, tolerance)]
    if not wrong:
        return []
    first, count = wrong[0], len(solution.values)
    of_all = "" if count == 1 else "; all elements are wrong" if len(wrong) == count else (
        f"; {len(wrong)} of {count} elements {'is' if len(wrong) == 1 else 'are'} wrong")
    value, wanted = solution.values[first], reference.values[first]
    digits = 9 if f"{value:.9g}" != f"{wanted:.9g}" else 17
    return [f"element {solution.index(first)} is {value:.{digits}g} and must be {wanted:.{digits}g}{of_all}",
            *guesses(solution, reference, tolerance, bounds, wrong)]


MOST_RANGES = 6  # a list of more ranges of indices is no pattern


def box_text(shape, places):
    """The indices of elements as text, such as "those with index 2 = 16 to 31", if all combinations of these indices are
    among the elements; empty if not, or if they are all elements."""
    indices = set()
    for place in places:
        index = []
        for extent in reversed(shape):
            place, last = divmod(place, extent)
            index.insert(0, last)
        indices.add(tuple(index))
    axes = [sorted({index[axis] for index in indices}) for axis in range(len(shape))]
    if math.prod(map(len, axes)) != len(indices) or len(indices) == math.prod(shape):
        return ""
    texts = [(number, naming.ranges(axis)) for number, axis in enumerate(axes, 1) if len(axis) < shape[number - 1]]
    if any(text.count(",") >= MOST_RANGES for _, text in texts):
        return ""
    named = [f"index {number} = {text}" if len(shape) > 1 else f"index = {text}" for number, text in texts]
    return "those with " + " and ".join(named)


# The unit roundoff of f32 is 6e-8. The error of a sum of products of rounded values is a few times as large.
ROUNDED = (1e-9, 4e-6)


def is_rounded(solution, reference, bounds, wrong):
    """Whether the errors are as large as if some values had been rounded to f32."""
    errors = [abs(solution.values[place] - reference.values[place]) / (bounds[place] or 1) for place in wrong]
    return all(error < ROUNDED[1] for error in errors) and max(errors) > ROUNDED[0]


def max_error(solution, reference, bounds, wrong):
    """The largest error of wrong elements, divided by their scales."""
    return max(abs(solution.values[place] - reference.values[place]) / (bounds[place] or 1) for place in wrong)


def is_simple(ratio):
    """Whether a factor, or its inverse, is a small integer other than one."""
    return any(abs(abs(value) - round(abs(value))) < 1e-6 and round(value) not in (0, 1) and abs(value) < 100
               for value in (ratio, 1 / ratio if ratio else 0.0))


def guesses(solution, reference, tolerance, bounds, wrong):
    """Yields at most one sentence, about a pattern in the wrong elements."""
    count = len(solution.values)
    if is_rounded(solution, reference, bounds, wrong):
        digit = max(1, math.floor(-math.log10(max_error(solution, reference, bounds, wrong))) + 1)
        yield (f"the result is wrong from the {digit}th digit on, and the errors are as large as the rounding errors of "
               f"f32: is a value of "
               "a wider type stored as float?")
        return

    def fits(place, wanted):
        return not is_wrong(solution.values[place], wanted, bounds[place] or 1, tolerance)

    def all_fit(where):
        return all(0 <= where(place) < count and fits(place, reference.values[where(place)]) for place in wrong)

    not_finite = [place for place in wrong if not math.isfinite(solution.values[place])]
    if not_finite and (box := box_text(solution.shape, not_finite)):
        yield f"{len(not_finite)} of {count} elements are not finite: {box}"
        return
    if all(solution.values[place] == 0 for place in wrong):
        yield ("each wrong element is zero: is its sum never stored, is a part of the work left out, or are other elements "
               "read than were written?")
        return
    if sentence := of_carried_sums(solution, reference, bounds, wrong, tolerance):
        yield sentence
        return
    n = solution.shape[-1] if solution.shape else 1
    if len(solution.shape) == 2 and solution.shape[0] == n > 1 and all_fit(lambda place: place % n * n + place // n):
        yield "each wrong element has the value of the transposed element: are row and column exchanged?"
        return
    ratios = {round(solution.values[place] / reference.values[place], 6) for place in wrong if reference.values[place]}
    if len(ratios) == 1 < len(wrong) and math.isfinite(ratio := next(iter(ratios))) and is_simple(ratio):
        yield f"each wrong element is {ratio:g} times the correct value"
        return
    for shift, name in ((1, "next element"), (-1, "previous element"), (n, "element one row below"),
                        (-n, "element one row above")):
        inner = [place for place in wrong if 0 <= place + shift < count]
        if len({reference.values[place + shift] for place in inner}) > 1 and all(fits(place, reference.values[place + shift])
                                                                                 for place in inner):
            yield f"each wrong element has the value of the {name}: is an index off by one?"
            return
    yield from (sentence for sentence in [of_other_element(solution, reference, tolerance, bounds, wrong)
                                          or of_whole_lines(solution, wrong)] if sentence)


def of_carried_sums(solution, reference, bounds, wrong, tolerance):
    """A sentence if most wrong elements are the right value plus the value of the element before; None otherwise."""
    after = [place for place in wrong if place > 0 and math.isfinite(solution.values[place])
             and solution.values[place - 1] != 0]
    carried = [place for place in after if not is_wrong(solution.values[place] - solution.values[place - 1],
                                                        reference.values[place],
                                                        max(bounds[place], abs(solution.values[place])) or 1, tolerance)]
    if len(carried) < 3 or len(carried) < 0.8 * len(after):
        return None
    place = carried[0]
    return (f"element {solution.index(place)} also contains the sum of element {solution.index(place - 1)}, and so on: is "
            f"the sum not set to zero for "
            "each element?")


def of_whole_lines(solution, wrong):
    """A sentence if the wrong elements of a matrix fill whole rows or columns; None otherwise."""
    if len(solution.shape) != 2 or min(solution.shape) < 3:
        return None
    rows, cols = solution.shape
    return stencils.of_cells(rows, cols, [divmod(place, cols) for place in wrong], "the elements", "look at the first and "
                                                                                                   "the last index")


FEW = 400  # number of wrong elements that are searched for among the correct elements


def of_other_element(solution, reference, tolerance, bounds, wrong):
    """A sentence if wrong elements have the correct values of other elements; otherwise None."""
    order = sorted(range(len(reference.values)), key=lambda place: reference.values[place])
    values = [reference.values[place] for place in order]
    found = {}
    looked_up = wrong[::max(1, len(wrong) // FEW)]
    for place in looked_up:
        value = solution.values[place]
        if not math.isfinite(value) or value == 0:
            continue
        width = tolerance["relative"] * (bounds[place] or abs(value))
        first, last = bisect.bisect_left(values, value - width), bisect.bisect_right(values, value + width)
        # A symmetric result contains each value twice. The smaller index is as good as the larger one.
        others = sorted(order[first:last])
        if 1 <= len(others) <= 2:
            found[place] = others[0]
    if len(found) < max(1, len(looked_up) // 4):
        return None
    place, other = next(iter(found.items()))
    which = "each wrong element holds the value of another element" if len(found) == len(looked_up) > 1 else (
        "several wrong elements hold the values of other elements" if len(found) > 1 else "a wrong element holds the value "
                                                                                          "of another one")
    return f"{which}: element {solution.index(place)} has the value of element {solution.index(other)}"
