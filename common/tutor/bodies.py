"""Explains wrong solutions of the N-body problem: which source bodies were not added exactly once, and which part of the
scheme differs."""

import dataclasses
import math
import typing

from naming import ranges
from products import solved

MOST = 160  # maximum number of bodies in a solution that is explained
FEW = 4  # maximum number of bodies whose steps are simulated
TILES = (32, 64, 128)
NEAR = 1e-9
SAME = 1e-12  # maximum difference between values that count as equal after a few steps
BODY, FORCE = 8, 6  # values of a body: position, mass, velocity, padding; of a force: acceleration and jerk


def pull(body, other, softening2):
    """The acceleration and the jerk of a body that a source body causes."""
    x, v = ([other[n] - body[n] for n in axes] for axes in ((0, 1, 2), (4, 5, 6)))
    inverse = 1 / math.sqrt(sum(each * each for each in x) + softening2)
    weight = other[3] * inverse ** 3
    factor = -3 * sum(map(float.__mul__, x, v)) * inverse * inverse
    return [weight * each for each in x] + [weight * (one + factor * other) for one, other in zip(v, x)]


def added(rows, multiplicities=None):
    """The sum of some vectors, each multiplied by its multiplicity."""
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


# --- Whole steps

@dataclasses.dataclass(frozen=True)
class Scheme:
    """The Hermite scheme, or a wrong version of it."""

    sources: typing.Callable = lambda i, n: range(n)  # the source bodies of body i
    power: int = 3  # of the inverse distance in the acceleration
    along: float = -3.0  # the factor of the radial velocity in the jerk
    softening: typing.Callable = lambda length: length * length
    chunk: int = 1  # number of bodies that share a sum, which is set to zero only once
    uses_predicted: bool = True
    swaps: bool = True
    exchanges: bool = False  # whether the forces at both ends of a step are exchanged
    predicts: tuple = (1 / 2, 1 / 3, 1.0, 1 / 2)  # the coefficients of the predictor
    corrects: tuple = (7.0, 3.0, 3.0, -2.0, 1.0, -1.0)  # the coefficients of the corrector


# Wrong versions of the scheme, and what they do.
SCHEMES = {
    "only source bodies with a smaller index than the body are added": {"sources": lambda i, n: range(i)},
    "only source bodies with a larger index than the body are added": {"sources": lambda i, n: range(i + 1, n)},
    "the last source body is never added": {"sources": lambda i, n: range(n - 1)},
    "the first source body is never added": {"sources": lambda i, n: range(1, n)},
    "all source bodies are added twice": {"sources": lambda i, n: [*range(n), *range(n)]},
    "the acceleration is divided by the distance instead of its third power": {"power": 1},
    "the acceleration is divided by the second power of the distance instead of the third": {"power": 2},
    "the acceleration is divided by the fourth power of the distance instead of the third": {"power": 4},
    "in the jerk, the term with the radial velocity has the wrong sign": {"along": 3.0},
    "the jerk lacks the term with the radial velocity": {"along": 0.0},
    "the softening is not squared": {"softening": lambda length: length},
    "the softening is left out": {"softening": lambda length: 0.0},
    "the forces at the end of a step are evaluated for the old positions and velocities, not for the predicted ones": {
        "uses_predicted": False},
    "the forces at the end of a step are not used at the beginning of the next step: is std::swap missing?": {
        "swaps": False},
    "in the corrector, the forces at the beginning and at the end of the step are exchanged": {"exchanges": True},
    "the predictor lacks the acceleration in the position": {"predicts": (0.0, 0.0, 1.0, 1 / 2)},
    "the predictor lacks the jerk in the position": {"predicts": (1 / 2, 0.0, 1.0, 1 / 2)},
    "the predictor lacks the acceleration in the velocity": {"predicts": (1 / 2, 1 / 3, 0.0, 0.0)},
    "the predictor lacks the jerk in the velocity": {"predicts": (1 / 2, 1 / 3, 1.0, 0.0)},
    "in the corrector, the weights of the two accelerations are exchanged": {"corrects": (3.0, 7.0, 3.0, -2.0, 1.0, -1.0)},
    "the corrector adds the jerk at the end of the step to the position instead of subtracting it": {
        "corrects": (7.0, 3.0, 3.0, 2.0, 1.0, -1.0)},
    "the corrector adds the jerk at the end of the step to the velocity instead of subtracting it": {
        "corrects": (7.0, 3.0, 3.0, -2.0, 1.0, 1.0)},
    "the corrector lacks the jerk in the velocity": {"corrects": (7.0, 3.0, 3.0, -2.0, 0.0, 0.0)},
    **{f"the sum of {count} bodies in a row is set to zero only once": {"chunk": count} for count in (2, 3)}}


def forces_on(bodies, scheme, softening2):
    """The accelerations and jerks of bodies with mass, position and velocity."""
    forces, total = [], [0.0] * FORCE
    for i, (_, x, v) in enumerate(bodies):
        total = total if i % scheme.chunk else [0.0] * FORCE
        for j in scheme.sources(i, len(bodies)):
            mass, other_x, other_v = bodies[j]
            dx, dv = ([b - a for a, b in zip(one, other)] for one, other in ((x, other_x), (v, other_v)))
            square = sum(each * each for each in dx) + softening2
            weight = mass * square ** (-scheme.power / 2) if square else 0.0
            factor = scheme.along * sum(map(float.__mul__, dx, dv)) / square if square else 0.0
            pulled = [weight * each for each in dx] + [weight * (one + factor * other) for one, other in zip(dv, dx)]
            total = [one + other for one, other in zip(total, pulled)]
        forces.append((total[:3], total[3:]))
    return forces


def advanced(bodies, scheme, problem):
    """The bodies after all steps."""
    dt, softening2 = problem["dt"], scheme.softening(problem["softening"])
    p, c = scheme.predicts, scheme.corrects
    forces = forces_on(bodies, scheme, softening2)
    for _ in range(problem["steps"]):
        predicted = [(mass, [s + dt * (u + dt * (p[0] * a + p[0] * p[1] * dt * k)) for s, u, a, k in zip(x, v, *force)],
                      [u + dt * (p[2] * a + p[3] * dt * k) for u, a, k in zip(v, *force)]) for (mass, x, v),
                     force in zip(bodies, forces)]
        following = forces_on(predicted if scheme.uses_predicted else bodies, scheme, softening2)
        one, other = (following, forces) if scheme.exchanges else (forces, following)
        bodies = [(mass, [s + dt * (u + dt / 20 * (c[0] * a + c[1] * b + dt / 3 * (c[2] * k + c[3] * m)))
                          for s, u, a, k, b, m in zip(x, v, *first, *second)],
                   [u + dt / 2 * (a + b + dt / 6 * (c[4] * k + c[5] * m)) for u, a, k, b, m in zip(v, *first, *second)])
                  for (mass, x, v), first, second in zip(bodies, one, other)]
        forces = following if scheme.swaps else forces
    return bodies


def of_steps(problem, start, found):
    """The sentences that explain a wrong solution of few bodies. `start` and `found` are lists of positions and velocities."""
    count = problem["bodies"]
    if not 1 < count <= FEW or not 0 < problem["steps"] <= 8 or not all(map(math.isfinite, found)):
        return []
    bodies = [(1 / count, start[6 * i:6 * i + 3], start[6 * i + 3:6 * i + 6]) for i in range(count)]

    def fits(scheme):
        values = [value for _, x, v in advanced(bodies, scheme, problem) for value in [*x, *v]]
        return all(abs(value - other) <= SAME for value, other in zip(values, found))

    return [sentence for sentence, changes in SCHEMES.items() if fits(Scheme(**changes))]
