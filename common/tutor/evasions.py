"""The cheapest ways to miss the point of an exercise, as counters that such a solution would have. Each must be refused.

The counters are derived from the stage's own counters, so no program has to be written for them: the same work by one thread, and the
same work by the host.
"""


def by_one_thread(own, suffix):
    """The counters of the same work if one thread does it: each access is a request of its own, and no barrier is needed."""
    if suffix == ".cpp":
        return own | {"regions": 0, "team_barriers": 0, "tasks": 0, "share of one thread": 1}
    changed = dict(own) | {"blocks": own.get("launches", 0), "threads": own.get("launches", 0), "block_barriers": 0}
    for place, unit in (("global", "sectors"), ("shared", "wavefronts")):
        lanes = own.get(f"lanes per {place} request", 0) or 1
        for group in ("loads", "stores", "atomics"):
            name = f"{place}_{group}"
            changed |= {name: own.get(name, 0) * lanes, f"{name} excess": 1 if own.get(name, 0) else 0}
        requests = own.get(f"{place} requests", 0) * lanes
        changed |= {f"{place} requests": requests, f"{place} {unit}": requests, f"{unit} per {place} request": 1 if requests else 0,
                    f"{place} excess": 1 if requests else 0, f"lanes per {place} request": 1 if requests else 0}
    return changed


def by_the_host(own):
    """The counters of the same work if the host does it: the stage's timeline, and no kernel, team or message."""
    return {name: value if name.startswith("spans") else 0 for name, value in own.items()}
