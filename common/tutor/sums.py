"""Explains wrong solutions of the Levinson-Durbin recursion: which terms of the sum of a step are missing or added twice, or which other
terms are added.

The reflection coefficients of the right solution determine all intermediate values. The first wrong coefficient therefore gives the sum
that the wrong solution has used in that step.
"""

WARP = 32
NEAR = 1e-8
MOST = 400  # the largest problem that is explained


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


def terms_text(first, last):
    """A range of terms as text."""
    return f"term {first}" if first == last else f"terms {first} to {last}"


def explanation(wanted, found):
    """A sentence about the first wrong step, or None. Both are lists of reflection coefficients."""
    if len(wanted) > MOST or len(wanted) != len(found):
        return None
    k = next((k for k, (right, value) in enumerate(zip(wanted, found)) if abs(right - value) > NEAR), None)
    if k is None:
        return None
    r, steps = recursion(wanted)
    y, beta = steps[k]
    if abs(found[k] + wanted[k]) < NEAR:
        return f"coefficient {k} has the wrong sign: look at the minus sign in its formula"
    used, terms = -found[k] * beta - r[k + 1], [r[k - i] * y[i] for i in range(k)]
    right = sum(terms)
    if k and abs(used) < NEAR:
        return f"in step {k}, the sum is zero: it is not added up, or not passed on"
    ratio = used / right if abs(right) > NEAR else 0
    if abs(ratio - round(ratio)) < NEAR and 2 < abs(round(ratio)) <= 1024:
        return f"in step {k}, the sum is {round(ratio)} times the right one: it, or a part of it, is added several times"
    others = {"r(i) y(i)": lambda i: r[i] * y[i], "r(i + 1) y(i)": lambda i: r[i + 1] * y[i],
              "r(k - 1 - i) y(i)": lambda i: r[k - 1 - i] * y[i],
              "r(k + 1 - i) y(i)": lambda i: r[k + 1 - i] * y[i], "r(k - i) y(k - 1 - i)": lambda i: r[k - i] * y[k - 1 - i],
              "r(k - i) alone": lambda i: r[k - i], "y(i) alone": lambda i: y[i]}
    whole = [(i, i) for i in range(k)] + [(first, min(first + WARP, k) - 1) for first in range(0, k, WARP)]
    for first, last in whole + [(1, k - 1), (0, k - 2)] + [(first, k - 1) for first in range(WARP, k, WARP)]:
        part = sum(terms[first:last + 1])
        for what, value in (("never added", right - part), ("added twice", right + part), ("subtracted", right - 2 * part)):
            if first <= last and abs(part) > NEAR and abs(used - value) < NEAR:
                verb = "is" if first == last else "are"
                return f"in step {k}, {terms_text(first, last)} of the {k} terms of the sum {verb} {what}"
    for name, term in others.items():
        if k and abs(sum(map(term, range(k))) - used) < NEAR:
            return f"in step {k}, the terms of the sum are {name} instead of r(k - i) y(i)"
    return None
