"""Holds a solution to the one of stage zero, element by element, and sees what kind of mistake it may be."""

import array
import ast
import dataclasses
import math
import struct


@dataclasses.dataclass
class Solution:
    """An array of numbers, row by row."""

    shape: tuple
    values: array.array

    def index(self, place):
        """Where an element stands, as people write it."""
        places = []
        for extent in reversed(self.shape):
            place, rest = divmod(place, extent)
            places.append(str(rest))
        return "(" + ", ".join(reversed(places)) + ")" if places else "()"


def read_npy(path):
    """The array of a file as stages write it."""
    data = path.read_bytes()
    length, = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode())
    values = array.array({"<f8": "d", "<f4": "f"}[header["descr"]])
    values.frombytes(data[10 + length:])
    return Solution(header["shape"], values)


def scales(reference, tolerance):
    """What the difference of each element is divided by, as common/harness/compare.hpp has it."""
    if tolerance["scale"] == "diagonal":
        n = reference.shape[0]
        roots = [math.sqrt(abs(reference.values[i * n + i])) for i in range(n)]
        return [a * b for a in roots for b in roots]
    if tolerance["scale"] == "given":
        return [tolerance["floor"]] * len(reference.values)
    least = tolerance["floor"] * max(map(abs, reference.values), default=0)
    return [max(abs(value), least) for value in reference.values]


def is_wrong(value, wanted, scale, tolerance):
    """Whether an element is further off than allowed; what is not finite always is."""
    difference = abs(value - wanted)
    return not (difference == 0 or difference <= tolerance["relative"] * scale)


def differences(solution, reference, tolerance):
    """Sentences on how a solution differs, the first with its first wrong element; none where it does not."""
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
    return [f"element {solution.index(first)} is {solution.values[first]:.9g} and must be "
            f"{reference.values[first]:.9g}{of_all}", *guesses(solution, reference, tolerance, bounds, wrong)]


def guesses(solution, reference, tolerance, bounds, wrong):
    """Sentences on what the wrong elements look like."""
    count = len(solution.values)

    def fits(place, wanted):
        return not is_wrong(solution.values[place], wanted, bounds[place] or 1, tolerance)

    def all_fit(where):
        return all(0 <= where(place) < count and fits(place, reference.values[where(place)]) for place in wrong)

    if all(solution.values[place] == 0 for place in wrong):
        yield "each wrong element is zero: is its sum never written, or its part left out?"
        return
    n = solution.shape[-1] if solution.shape else 1
    if len(solution.shape) == 2 and solution.shape[0] == n > 1 and all_fit(lambda place: place % n * n + place // n):
        yield "each wrong element is what belongs to its mirror image: are row and column exchanged?"
        return
    ratios = {round(solution.values[place] / reference.values[place], 6) for place in wrong if reference.values[place]}
    if len(ratios) == 1 < len(wrong) and math.isfinite(ratio := next(iter(ratios))):
        yield f"each wrong element is {ratio:g} times what it must be"
        return
    for shift, name in ((1, "behind it"), (-1, "before it"), (n, "a row below it"), (-n, "a row above it")):
        inner = [place for place in wrong if 0 <= place + shift < count]
        if len(inner) > 1 and all(fits(place, reference.values[place + shift]) for place in inner):
            yield f"each wrong element is what belongs to the one {name}: does an index begin one too far?"
            return
