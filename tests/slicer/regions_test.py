"""Compares the claims of `slice --check` on random parallel regions with a model of OpenMP. Prints TAP.

A loop may be *proved* only if the model finds no data race of the loop for any size, and if no clause changes a value. A
loop may be *refuted* only if the model finds a data race for some size.

Usage: regions_test.py SLICE "COMPILER" [--count COUNT] [--seed SEED]
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import tempfile

import regions
import tap

BATCH = 250


class Comparison:
    """Compares claims with the model."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.counts = collections.Counter()
        self.wrong = {"proved": [], "refuted": [], "independent": []}
        self.other = []

    def check(self, made):
        """Compares the claims about a batch of regions."""
        lines, places = [], {}
        for region in made:
            text, of_loops = region.lines()
            for loop, line in of_loops.items():
                places[len(lines) + line + 1] = (region, loop)
            lines += text
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory, "regions.cpp")
            source.write_text("\n".join(lines) + "\n")
            # The compiler checks that the generated directives are valid OpenMP.
            result = subprocess.run([*self.arguments.compiler.split(), "-std=c++20", "-fopenmp", "-w", "-fsyntax-only", source],
                                    capture_output=True, text=True, check=False)
            if result.returncode:
                self.other.append(result.stderr[:2000])
            result = subprocess.run([self.arguments.slice, "--check", source, "--json", "-"], capture_output=True, text=True, check=False)
        if result.returncode > 1:
            self.other.append(result.stderr)
            return
        truths = {region.number: region.truth() for region in made}
        self.counts["regions"] += len(made)
        for found in json.loads(result.stdout):
            if "claim" not in found or found["line"] not in places:
                continue
            region, loop = places.pop(found["line"])
            self.compare(region, loop, found, *truths[region.number])
        self.other += [f"the slicer reports no claim for loop {loop} of\n" + "\n".join(region.lines()[0])
                       for region, loop in places.values()]

    def compare(self, region, loop, found, races, broken, dependent):
        """Compares the claim about a loop with the races, changed values and dependences that the model finds."""
        claim = found["claim"]["verdict"]
        self.counts[claim] += 1
        self.counts["loops with a race"] += loop in races
        self.counts["refuted with a race"] += claim == "refuted" and loop in races
        if found["verdict"] == "independent" and loop in dependent:
            self.wrong["independent"].append(
                f"loop {loop} is independent; the model has a dependence for {dependent[loop]}\n"
                + "\n".join(region.lines()[0]))
        if (claim == "proved" and (loop in races or loop in broken)) or (claim == "refuted" and loop not in races):
            how = f"{races.get(loop)} {broken.get(loop)}"
            self.wrong[claim].append(f"loop {loop}, {claim}: {found['claim']['reason']}; the model: {how}\n" + "\n".join(region.lines()[0]))


def main():
    """Prints one TAP line per check."""
    parser = argparse.ArgumentParser()
    parser.add_argument("slice", type=pathlib.Path)
    parser.add_argument("compiler")
    parser.add_argument("--count", type=int, default=BATCH)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else int(os.environ.get("STAIRCASE_TEST_SEED") or random.randrange(1 << 30))
    print(f"# STAIRCASE_TEST_SEED={seed}")
    source, comparison = random.Random(seed), Comparison(arguments)
    for first in range(0, arguments.count, BATCH):
        comparison.check([regions.Region(source, number) for number in range(first, min(first + BATCH, arguments.count))])
    print("#", dict(comparison.counts))
    few = [f"only {comparison.counts[claim]} loops are {claim}" for claim in ("proved", "refuted")
           if comparison.counts[claim] < arguments.count / 20]
    tap.report([("no proved loop has a race or a changed value in the model", comparison.wrong["proved"]),
                ("no independent loop has a dependence in the model", comparison.wrong["independent"]),
                ("every refuted loop has a race in the model", comparison.wrong["refuted"]),
                ("the slicer reports a claim for every loop", comparison.other),
                ("at least one loop per 20 regions is proved, and at least one is refuted", few)], None)


if __name__ == "__main__":
    main()
