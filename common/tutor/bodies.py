"""Explains wrong forces of the N-body problem: which source bodies were not added exactly once."""

import math

from naming import ranges
from products import solved

MOST = 160  # the largest number of bodies that is explained
TILES = (32, 64, 128)
NEAR = 1e-9
BODY, FORCE = 8, 6  # values of a body: position, mass, velocity, padding; of a force: acceleration and jerk


def pull(body, other, softening2):
    """The acceleration and the jerk of a body that a source body causes."""
    x, v = ([other[n] - body[n] for n in axes] for axes in ((0, 1, 2), (4, 5, 6)))
    inverse = 1 / math.sqrt(sum(each * each for each in x) + softening2)
    weight = other[3] * inverse ** 3
    factor = -3 * sum(map(float.__mul__, x, v)) * inverse * inverse
    return [weight * each for each in x] + [weight * (one + factor * other) for one, other in zip(v, x)]


def added(rows, multiplicities=None):
    """The sum of some vectors, each times its multiplicity."""
    factors = multiplicities or [1] * len(rows)
    return [sum(factor * row[axis] for factor, row in zip(factors, rows)) for axis in range(FORCE)]


def are_near(one, other, scale):
    """Whether two vectors agree."""
    return all(abs(x - y) <= NEAR * scale for x, y in zip(one, other))


def of_sources(force, pulls):
    """A statement about the source bodies in a wrong force, or None. `pulls` has the contribution of each source body."""
    count, right = len(pulls), added(pulls)
    scale = max(1e-300, sum(max(map(abs, row)) for row in pulls))
    parts = [(j, j) for j in range(count)] + [(first, min(first + tile, count) - 1) for tile in TILES
                                              for first in range(0, count, tile)]
    parts += [(first, count - 1) for tile in TILES for first in range(tile, count, tile)]
    for first, last in parts:
        part = added(pulls[first:last + 1])
        which = f"source bod{'y' if first == last else 'ies'} {ranges(range(first, last + 1))} {'is' if first == last else 'are'}"
        if max(map(abs, part)) <= NEAR * scale:
            continue
        if are_near(force, [one - other for one, other in zip(right, part)], scale):
            return f"{which} never added"
        if are_near(force, [one + other for one, other in zip(right, part)], scale):
            return f"{which} added twice"
        if first != last and are_near(force, part, scale):
            return f"only {which.removesuffix(' are')} are added"
    return None


def of_common_counts(forces, pulls):
    """A statement about the multiplicities of the source bodies that several forces have in common, or None."""
    count = len(pulls[0])
    if FORCE * len(forces) < count:
        return None
    rows = [([pull_of[axis] for pull_of in of_body], force[axis]) for force, of_body in zip(forces, pulls)
            for axis in range(FORCE)]
    system = [[sum(row[p] * row[q] for row, _ in rows) for q in range(count)] + [sum(row[p] * value for row, value in rows)]
              for p in range(count)]
    counts = solved(system)
    if counts is None or any(abs(each - round(each)) > 1e-3 for each in counts):
        return None
    groups = {}
    for j, each in enumerate(counts):
        if round(each) != 1:
            groups.setdefault(round(each), []).append(j)
    parts = [f"source bod{'y' if len(group) == 1 else 'ies'} {ranges(group)} {'is' if len(group) == 1 else 'are'} "
             + ("never added" if each == 0 else f"added {each} times") for each, group in sorted(groups.items())]
    return ", and ".join(parts) or None


def of_forces(bodies, forces, softening):
    """A sentence about wrong forces, or None. Both are lists of the values of all bodies."""
    count = len(bodies) // BODY
    if count > MOST or len(bodies) != count * BODY or len(forces) != count * FORCE:
        return None
    if not all(map(math.isfinite, [*bodies, *forces])):
        return None
    of_body = [bodies[i * BODY:(i + 1) * BODY] for i in range(count)]
    found = [forces[i * FORCE:(i + 1) * FORCE] for i in range(count)]
    said = {}
    for i in (0, 1, count // 2, count - 1):
        pulls = [pull(of_body[i], other, softening * softening) for other in of_body]
        if i < count and i not in said and not are_near(found[i], added(pulls), sum(max(map(abs, row)) for row in pulls)):
            if sentence := of_sources(found[i], pulls):
                said[i] = sentence
    if said:
        return "in the force on " + "; on ".join(f"body {i}, {sentence}" for i, sentence in list(said.items())[:2])
    some = range(min(count, 64))
    pulls = [[pull(of_body[i], other, softening * softening) for other in of_body] for i in some]
    sentence = of_common_counts([found[i] for i in some], pulls)
    return sentence and f"in the forces on bodies 0 to {len(some) - 1}, {sentence}"


def of_launch(problem, difference):
    """A sentence about wrong forces that a launch has computed, or None."""
    bodies, forces = (next((list(each.values) for each in difference.arrays if each.is_structure
                            and each.shape[-1] == size), None)
                      for size in (BODY, FORCE))
    return of_forces(bodies, forces, problem["softening"]) if bodies and forces else None
