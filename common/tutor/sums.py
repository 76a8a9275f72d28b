"""Explains wrong solutions of recurrences, in which each value is a function of a sum over the earlier values: which terms
of the first wrong sum are missing or added twice, or which other terms are added.

The right solution determines all terms. The first wrong value therefore gives the sum that the wrong solution has used.
"""

import math

from products import random_multiple

WARP = 32
NEAR = 1e-8
MOST = 400  # maximum size of a problem that is explained
STRIDES = [(width, count) for count in (2, 4, 8, 16, 32) for width in (1, 2, 4)]  # how terms may be distributed among lanes


def terms_text(first, last):
    """A range of terms as text."""
    return f"term {first}" if first == last else f"terms {first} to {last}"


def of_sum(terms, used, others):
    """A statement about a wrong sum, or None. `used` is the sum that was used, and `others` contains pairs of a text and
    the sum of other terms."""
    k, right = len(terms), sum(terms)
    scale = max(1.0, *map(abs, terms)) if terms else 1.0

    def is_near(value):
        return abs(used - value) < NEAR * scale

    if is_near(right):
        return None
    if k and abs(used) < NEAR:
        return "the sum is zero: it is not added up, or not passed on"
    if is_near(-right):
        return "the sum has the wrong sign"
    ratio = used / right if abs(right) > NEAR else 0
    if abs(ratio - round(ratio)) < NEAR and 2 < abs(round(ratio)) <= 1024:
        return f"the sum is {round(ratio)} times the right one: it, or a part of it, is added several times"
    whole = [(i, i) for i in range(k)] + [(first, min(first + WARP, k) - 1) for first in range(0, k, WARP)]
    parts = [*whole, (1, k - 1), (0, k - 2), *((first, k - 1) for first in range(WARP // 2, k, WARP // 2)),
             *((0, last - 1) for last in range(WARP, k, WARP))]
    for first, last in parts:
        part = sum(terms[first:last + 1])
        for what, value in (("never added", right - part), ("added twice", right + part), ("subtracted", right - 2 * part)):
            if first <= last and abs(part) > NEAR and is_near(value):
                verb = "is" if first == last else "are"
                return f"{terms_text(first, last)} of the {k} terms of the sum {verb} {what}"
    fitting = [name for name, value in others if k and is_near(value)]
    if fitting:
        return f"the terms of the sum are {', or '.join(fitting)}"
    return of_lanes(terms, used, is_near)


def of_lanes(terms, used, is_near):
    """A statement about a sum that contains only the terms of some lanes, or None."""
    for width, count in STRIDES:
        if len(terms) <= width * count // 2 or len(terms) < 4:
            continue
        of_lane = [sum(term for i, term in enumerate(terms) if i // width % count == lane) for lane in range(count)]
        index = "i" if width == 1 else f"i / {width}"
        for lanes in range(1, count):
            if is_near(sum(of_lane[:lanes])):
                which = "0" if lanes == 1 else f"0 to {lanes - 1}"
                return (f"only the terms i with {index} % {count} = {which} are added: is a step of the sum over the lanes "
                        f"missing, or do not all "
                        "threads take part?")
    return None


# --- The Levinson-Durbin recursion

def recursion(alphas):
    """The autocorrelations, and by step k the solution y of order k and the error beta, from the reflection coefficients."""
    r, y, beta, steps = [1.0], [], 1.0, []
    for alpha in alphas:
        k = len(y)
        r.append(-alpha * beta - sum(r[k - i] * y[i] for i in range(k)))
        steps.append((list(y), beta))
        y = [y[i] + alpha * y[k - 1 - i] for i in range(k)] + [alpha]
        beta *= 1 - alpha * alpha
    return r, steps


def updated_in_place(y, alpha, keeps_middle):
    """The solution of the next order if the second element of each pair is computed from the new first one. The middle
    element is a pair with itself, unless `keeps_middle`."""
    y, k = list(y), len(y)
    for i in range((k + 1) // 2):
        low, high = y[i], y[k - 1 - i]
        y[i] = low + alpha * high
        if not (keeps_middle and i == k - 1 - i):
            y[k - 1 - i] = high + alpha * y[i]
    return [*y, alpha]


def sum_of_pairs_twice(r, y, alpha):
    """The sum if each pair of y is updated and added once for each of its two elements."""
    y, total, k = list(y), 0.0, len(y) + 1
    for i in range(k - 1):
        j = k - 2 - i
        y[i], y[j] = y[i] + alpha * y[j], y[j] + alpha * y[i]
        total += r[k - i] * y[i] + (r[k - j] * y[j] if i != j else 0.0)
    return total + r[1] * alpha


# Wrong ways to compute the solution of the next order from the solution y and the new coefficient.
UPDATES = {
    "y is not updated in the step before": lambda y, alpha: [*y, alpha],
    "alpha times the reversed y is added with the wrong sign": lambda y, alpha: [*(one - alpha * other for one,
                                                                    other in zip(y, reversed(y))), alpha],
    "y(i) + alpha y(i) is stored instead of y(i) + alpha y(k - 1 - i)": lambda y,
           alpha: [*(one + alpha * one for one in y), alpha],
    "y(i) + alpha y(k - i) is stored instead of y(i) + alpha y(k - 1 - i)": lambda y, alpha: [
        *(one + alpha * other for one, other in zip(y, [0.0, *reversed(y[1:])])), alpha],
    "the last element, alpha, is missing": lambda y, alpha: [*(one + alpha * other for one, other in zip(y, reversed(y))),
                                                             0.0],
    "the second element of a pair is computed from the new value of the first one": lambda y,
           alpha: updated_in_place(y, alpha, True),
    "an element of a pair is computed from the new value of the other one": lambda y,
           alpha: updated_in_place(y, alpha, False)}


def explanation(wanted, found):
    """A sentence about the first wrong step, or None. Both are lists of reflection coefficients."""
    if len(wanted) > MOST or len(wanted) != len(found):
        return None
    k = next((k for k, (right, value) in enumerate(zip(wanted, found)) if not abs(right - value) <= NEAR), None)
    if k is None or not math.isfinite(found[k]):
        return None
    r, steps = recursion(wanted)
    y, beta = steps[k]
    if abs(found[k] + wanted[k]) < NEAR:
        return f"coefficient {k} has the wrong sign: look at the minus sign in its formula"
    terms, total = [r[k - i] * y[i] for i in range(k)], -wanted[k] * beta
    earlier = [sum(r[m - i] * value for i, value in enumerate(steps[m][0])) for m in range(1, k)]
    if earlier and abs(-found[k] * beta - r[k + 1] - sum(terms) - sum(earlier)) < NEAR < abs(sum(earlier)):
        return f"in step {k}, the sums of the steps before are added again: is the sum not set to zero in each step?"
    others = {"r(i) y(i)": lambda i: r[i] * y[i], "r(i + 1) y(i)": lambda i: r[i + 1] * y[i],
              "r(k - 1 - i) y(i)": lambda i: r[k - 1 - i] * y[i],
              "r(k + 1 - i) y(i)": lambda i: r[k + 1 - i] * y[i], "r(k - i) y(k - 1 - i)": lambda i: r[k - i] * y[k - 1 - i],
              "r(k - i) alone": lambda i: r[k - i], "y(i) alone": lambda i: y[i]}
    updates = [(f"r(k - i) y(i) with a wrong y: {name}", sum(r[k - i] * value for i,
                                                             value in enumerate(update(steps[k - 1][0], wanted[k - 1]))))
               for name, update in UPDATES.items()] if k > 1 else []
    updates += [("those of pairs that are updated and added twice: does the loop over i end at the middle of y?",
                 sum_of_pairs_twice(r, steps[k - 1][0], wanted[k - 1]))] if k > 1 else []
    said = of_sum(terms, -found[k] * beta - r[k + 1],
                  [*((f"{name} instead of r(k - i) y(i)", sum(map(term, range(k)))) for name, term in others.items()),
                   *updates])
    if k and said and not said.startswith(("the sum is", "only the")):
        return f"in step {k}, {said}"
    return of_divisor(k, found[k], total, wanted, steps) or of_constant(k, -found[k] * beta - sum(terms), r, y) or (
        said and f"in step {k}, {said}")


def of_constant(k, used, r, y):
    """A sentence if another value than r(k + 1) is added to the sum of step k, or None. `used` is the value that was
    added."""
    values = [("zero", 0.0), *((f"y({i})", value) for i, value in enumerate(y)),
              *((f"r({i})", value) for i, value in enumerate(r) if i != k + 1 and i != k)]
    for name, value in values:
        if abs(used - value) < NEAR:
            return (f"in step {k}, {name} is added to the sum instead of r({k + 1}): is the index wrong, or is r not loaded or "
                    "overwritten?")
    last = r[1] * y[k - 1] if k else 0.0
    for what, once in ((f"r({k + 1})", r[k + 1]), (f"the last term, r(1) y({k - 1}), and of r({k + 1})", last + r[k + 1])):
        times = (used - r[k + 1]) / once + 1 if abs(once) > NEAR else 0
        if abs(times - round(times)) < NEAR * 100 and 2 <= round(times) <= 1024:
            return (f"in step {k}, the sum contains {round(times)} copies of {what}: do {round(times)} threads "
                    "add them, instead of one thread?")
    return None


def of_divisor(k, found, total, wanted, steps):
    """A sentence if a coefficient is the right sum divided by a wrong beta, or None."""
    betas = {"beta of the step before": steps[k - 1][1] if k else None,
             "beta of the next step": steps[k][1] * (1 - wanted[k] ** 2),
             "1: is beta not updated, or is the division missing?": 1.0,
             "a beta with the factor 1 - alpha instead of 1 - alpha * alpha": math.prod(1 - alpha for alpha in wanted[:k]),
             "a beta with the factor 1 + alpha * alpha instead of 1 - alpha * alpha":
                 math.prod(1 + alpha ** 2 for alpha in wanted[:k])}
    for name, beta in betas.items():
        if beta and abs(beta - steps[k][1]) > NEAR and abs(-total / beta - found) < NEAR * max(1.0, abs(found)):
            return f"coefficient {k} is the right sum divided by {name}"
    return None


def of_systems(shape, wanted, found):
    """A sentence about the first wrong system of many, or None. Each system has two rows: y and the reflection
    coefficients."""
    systems, _, n = shape
    values = [[values[s * 2 * n:(s + 1) * 2 * n] for s in range(systems)] for values in (wanted, found)]
    wrong = [s for s in range(systems) if any(not abs(right - value) <= NEAR for right,
                                              value in zip(values[0][s], values[1][s]))]
    for s in wrong[:8]:
        right, value = ([each[s][:n], each[s][n:]] for each in values)
        if said := explanation(list(right[1]), list(value[1])):
            return f"system {s}: {said}"
        if all(abs(one - other) <= NEAR for one, other in zip(right[1], value[1])):
            places = [i for i, (one, other) in enumerate(zip(right[0], value[0])) if not abs(one - other) <= NEAR]
            return (f"system {s}: all reflection coefficients are right, and {len(places)} of {n} elements of y are wrong, "
                    f"the first one is "
                    f"y({places[0]})")
    return None


# --- Forward substitution

def system_of(problem):
    """The lower triangular matrix, as a function, and the right-hand side of a problem; None for problems that are not
    generated in this way."""
    n, seed = problem["n"], problem["seed"]
    if n > MOST or any(problem.get(name, 0) for name in ("matrix", "unit", "transposed")) or problem.get("rhs", 1) != 1:
        return None
    below = 2.0 ** math.floor(math.log2(1 / n))

    def element(i, j):
        value = random_multiple(seed, n + i * n + j)
        return 0.0 if j > i else below * value if j < i else value + math.copysign(1, value)

    return element, [random_multiple(seed, i) for i in range(n)]


def of_substitution(problem, wanted, found):
    """A sentence about the first wrong unknown of a triangular system, or None."""
    system = system_of(problem)
    k = next((k for k, (right, value) in enumerate(zip(wanted, found))
              if not abs(right - value) <= NEAR * max(1.0, abs(right))), None)
    if system is None or k is None:
        return None
    (l, b), x = system, wanted
    begin = f"the first wrong unknown is x({k})"
    if not math.isfinite(found[k]):
        return begin + f", which is {found[k]}"
    pivot = l(k, k)

    def is_near(value):
        return abs(found[k] - value) < NEAR * max(1.0, abs(value))

    for value, why in ((x[k] * pivot, f"it is not divided by the diagonal element l({k}, {k})"),
                       (x[k] / pivot, f"it is divided twice by the diagonal element l({k}, {k})"),
                       (-x[k], "its sign is wrong"),
                       *((x[k] * pivot / l(j, j), f"it is divided by l({j}, {j}) instead of l({k}, {k})")
                         for j in {0, k - 1} if 0 <= j < k)):
        if is_near(value):
            return f"{begin}: {why}"
    others = [("l(k, i) times the undivided x(i)", sum(l(k, i) * x[i] * l(i, i) for i in range(k))),
              ("l(k - 1, i) x(i) instead of l(k, i) x(i)", sum(l(k - 1, i) * x[i] for i in range(k))),
              ("l(k, i + 1) x(i) instead of l(k, i) x(i)", sum(l(k, i + 1) * x[i] for i in range(k))),
              ("l(k, i) alone", sum(l(k, i) for i in range(k))), ("x(i) alone", sum(x[:k]))]
    said = of_sum([l(k, i) * x[i] for i in range(k)], b[k] - found[k] * pivot, others)
    if said:
        return f"{begin}: of the sum over l({k}, i) x(i), {said}"
    if k and is_near(b[k] / pivot):
        return f"{begin}: no term l({k}, i) x(i) is subtracted from b({k})"
    return begin + " (all earlier unknowns are right)" if k else None
