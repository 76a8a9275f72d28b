"""Compares the verdicts of `slice --check` on random functions with recorded runs of the same functions. Prints TAP.

The functions contain constructs that are easy to misjudge (constructs.py). Two programs run each function on random
arguments, also on arguments that share memory if no printed assumption excludes it. The first program records all
accesses (oracle.cpp), and also runs the iterations of each loop in a random order. The second program runs proved
loops with OpenMP. Functions with a positive verdict are then changed in one place each and checked again.

Usage: oracle_test.py ROOT SLICE "COMPILER" [--count COUNT] [--each] [--seed SEED] [--keep DIRECTORY]
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import functions
import tap
from constructs import CONSTRUCTS

HERE = pathlib.Path(__file__).resolve().parent
POSITIVE = ("independent", "reduction")
TRIALS = 8
BATCH = 600
CONTROLS = 20


def numbered(text):
    """The functions that the messages of a compiler name."""
    return {int(number) for number in re.findall(r"^f(\d+):\d+:\d+: (?:fatal )?error|^f(\d+):\d+:\d+:   required", text, re.MULTILINE)
            for number in number if number}


class Batch:
    """Random functions, and the programs that run them."""

    compiled = None

    def __init__(self, arguments, made, directory):
        self.arguments, self.functions, self.directory = arguments, made, pathlib.Path(directory)
        self.library = (HERE / "oracle_library.hpp").read_text()

    def header(self):
        return f'#include "{HERE}/oracle.hpp"\n{self.library}'

    def program(self, chosen, is_parallel):
        """A translation unit with a test of each function."""
        text, calls = [self.header()], []
        for function in chosen:
            text += [f'#line 1 "f{function.number}"', *function.extras]
        for function in chosen:
            names = [f"f{function.number}"]
            text += [f'#line 1 "f{function.number}"']
            if is_parallel:
                text += function.plain(names[0])[0]
                text += ["#undef omp"]
            else:
                text += function.recording(names[0])
                for loop in function.loops:
                    names.append(f"f{function.number}_{loop.number}")
                    text += function.recording(names[-1], loop.number)
                if function.exchanges:
                    names.append(f"f{function.number}_exchanged")
                    text += function.exchanged(names[-1])
            calls.append((function, names))
        text += ['#line 1 "arguments"', (HERE / "oracle_arguments.hpp").read_text()]
        tested = []
        for function, names in calls:
            given = ", ".join(functions.PARAMETERS[name][1] for name in function.parameters())
            for name in names:
                text += [f'#line 1 "f{function.number}"', f"void call_{name}(const oracle::Trial& trial, oracle::State& state) {{", "fill(trial); remember_all();",
                         *(f"{name_of} = {value};" for name_of, value in function.globals.items()), f"try {{ {name}({given}); }} catch (...) {{}}",
                         "oracle::returned(); collect(state);",
                         *(f"state.add({name_of});" for name_of, value in function.globals.items() if value not in ("nullptr", "g1")),
                         "}"]
            permuted = ", ".join(f"call_{name}" for name in names[1:])
            overlapping = ", ".join(f'"{name}"' for name in function.overlapping())
            tested.append(f"{{{function.number}, {{{overlapping}}}, call_{names[0]}, {{{permuted}}}}}")
        text.append("int main(int argc, char** argv) { return oracle::run({" + ",\n".join(tested) + "}, argc, argv); }")
        return "\n".join(text) + "\n"

    def compile(self, source, *options):
        # The compiler's checks are relaxed. The member functions of containers are compiled here, so that their accesses are
        # recorded.
        command = [*self.arguments.compiler.split(), "-std=c++20", "-O0", "-w", "-fwrapv", "-fno-strict-aliasing", "-fpermissive",
                   "-D_GLIBCXX_EXTERN_TEMPLATE=0", f"-I{self.arguments.root}/common/include", "-c", str(source), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def accepted(self, name, chosen, is_parallel, *options):
        """Compiles a program, and returns the functions that the compiler accepts."""
        source = self.directory / f"{name}.cpp"
        for _ in range(8):
            source.write_text(self.program(chosen, is_parallel))
            result = self.compile(source, *options)
            if result.returncode == 0:
                return chosen
            refused = numbered(result.stderr)
            if not refused:
                break
            chosen = [function for function in chosen if function.number not in refused]
        raise RuntimeError(result.stderr[:3000])

    def build(self, name, chosen, is_parallel):
        """Builds a program. Functions that the compiler refuses are left out."""
        built = self.directory / name
        chosen = self.accepted(name, list(chosen), is_parallel, "-fopenmp" if is_parallel else "-fsanitize=thread", "-o", f"{built}.o")
        recorder = self.recorder()
        linked = subprocess.run([*self.arguments.compiler.split(), f"{built}.o", str(recorder), "-o", str(built), *(["-fopenmp"] if is_parallel else [])],
                                capture_output=True, text=True, check=False)
        if linked.returncode:
            raise RuntimeError(linked.stderr[:3000])
        return built, chosen

    def recorder(self):
        """The functions that record accesses, compiled once per run of this test."""
        if not Batch.compiled:
            Batch.compiled = pathlib.Path(self.arguments.directory, "oracle.o")
            result = self.compile(HERE / "oracle.cpp", "-O2", "-o", str(Batch.compiled))
            if result.returncode:
                raise RuntimeError(result.stderr)
        return Batch.compiled

    def results(self, built, mode):
        """For each function, its trials: the names that share memory, the digest of the state, and a text for each loop. The
        second result contains the functions that crashed."""
        result = subprocess.run([built, str(self.arguments.seed), str(TRIALS), mode], capture_output=True, text=True, check=False,
                                env=os.environ | {"OMP_NUM_THREADS": "3"})
        found, ended = collections.defaultdict(dict), set()
        for line in result.stdout.splitlines():
            words = line.split()
            if len(words) >= 5:
                found[int(words[0])][int(words[1])] = ({words[2], words[3]} - {"-"}, words[4], words[5:])
            elif len(words) > 1 and words[1] == "crashed":
                ended.add(int(words[0]))
        return found, ended

    def verdicts(self, *options):
        """The verdict of each loop of each function."""
        refused = set()
        for _ in range(40):
            lines, places = self.library.splitlines(), {}
            starts = {}
            for function in self.functions:
                if function.number in refused:
                    continue
                for extra in function.extras:
                    lines += extra.splitlines()
                starts[len(lines)] = function.number
                text, loops = function.plain(f"f{function.number}")
                for loop, line in loops.items():
                    places[len(lines) + line + 1] = (function.number, loop)
                lines += text
            source = self.directory / "plain.cpp"
            source.write_text("\n".join(lines) + "\n")
            result = subprocess.run([self.arguments.slice, "--check", *options, source, "--json", "-", "--", "-std=c++20", f"-I{self.arguments.root}/common/include", "-Wno-everything"],
                                    capture_output=True, text=True, check=False)
            if result.returncode < 2:
                break
            line = re.search(r":(\d+)(?::\d+)?:", result.stderr) or re.search(r"line (\d+)", result.stderr)
            number = max((start for start in starts if line and start <= int(line[1])), default=None)
            if number is None:
                raise RuntimeError(result.stderr)
            refused.add(starts[number])
        found = {}
        for loop in json.loads(result.stdout):
            if loop["line"] in places:
                found[places[loop["line"]]] = loop
        return found


def is_excluded(overlapping, assumptions):
    """Whether a trial contradicts a printed assumption."""
    if any("are those that its class says" in assumption["text"] for assumption in assumptions):
        return True
    for assumption in assumptions:
        if not assumption["text"].endswith("do not overlap"):
            continue
        named = {re.split(r"[.\[]", name)[0] for name in re.findall(r"`([^`]+)`", assumption["text"])}
        # A name that the function declares may refer to the memory of any of the other names.
        if overlapping and (overlapping <= named or not named <= {*functions.MAY_OVERLAP, *functions.PARAMETERS}):
            return True
    return False


def exchange_of(loop):
    """The verdict on the requested interchange of a loop; empty if there is no request."""
    return loop.get("transformations", [{"verdict": ""}])[0]["verdict"]


def is_positive(loop):
    return loop["verdict"] in POSITIVE or loop.get("claim", {}).get("verdict") == "proved" or exchange_of(loop) == "legal"


class Oracle:
    """Compares verdicts with runs."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.counts = collections.Counter()
        self.faults = []

    def check(self, made, directory):
        batch = Batch(self.arguments, made, directory)
        batch.functions = batch.accepted("syntax", list(made), True, "-fopenmp", "-fsyntax-only")
        verdicts = {"": batch.verdicts(), "--strict": batch.verdicts("--strict")}
        self.counts["functions"] += len(batch.functions)
        by_number = {function.number: function for function in batch.functions}
        positive = sorted({number for found in verdicts.values() for (number, _), loop in found.items()
                           if is_positive(loop)})
        # Recorded runs must contain conflicts of some dependent loops.
        dependent = [number for (number, loop), of_loop in verdicts[""].items() if loop == 0 and of_loop["verdict"] == "dependent"
                     and number not in positive][:CONTROLS]
        recorded, _ = batch.build("recorded", [by_number[number] for number in [*positive, *dependent]], False)
        runs, crashed = batch.results(recorded, "serial")
        self.counts["recorded"] += len(runs)
        self.counts["crashed"] += len(crashed)
        for number in set(dependent) - crashed:
            self.counts["controls"] += 1
            self.counts["controls that conflict"] += any(loops[0][0] == "c" for _, _, loops in runs[number].values() if loops)
        proved = sorted({number for found in verdicts.values() for (number, _), loop in found.items() if loop.get("claim", {}).get("verdict") == "proved"} - crashed)
        parallel = {}
        if proved:
            program, _ = batch.build("parallel", [by_number[number] for number in proved], True)
            parallel = batch.results(program, "parallel")[0]
        for mode, found in verdicts.items():
            for (number, loop), verdict in found.items():
                self.compare(by_number[number], loop, verdict, mode, runs[number], parallel.get(number, {}))
        return [by_number[number] for number in positive]

    def check_mutants(self, positive, source, directory):
        """Changes functions with positive verdicts in one place each, and checks the verdicts on the results."""
        before = self.counts
        self.counts = collections.Counter()
        still = self.check([function.mutated(source) for function in positive], directory) if positive else []
        before["mutants"] += self.counts["functions"]
        before["mutants with other verdicts"] += self.counts["functions"] - len(still)
        self.counts = before

    def compare(self, function, loop, found, mode, runs, parallel):
        verdict, claim = found["verdict"], found.get("claim", {}).get("verdict", "")
        if not mode:
            self.counts[verdict] += 1
            self.counts[f"claim {claim}"] += bool(claim)
        if not is_positive(found):
            return
        is_legal = exchange_of(found) == "legal"
        self.counts["legal"] += is_legal and not mode
        assumptions = found.get("assumptions", [])
        has_static = bool(re.search(r"\b(static|thread_local) ", "\n".join(function.plain("f")[0])))
        has_clauses = bool(function.loops[0].private) and loop == 0
        drops_last = any("is not needed" in each["text"] or "combines the" in each["text"] for each in assumptions)
        needs_last = any(kind in "lb" for kind, _ in function.loops[0].private) or drops_last
        for trial, (overlapping, digest, loops) in sorted(runs.items()):
            if is_excluded(overlapping, assumptions) or loop >= len(loops):
                continue
            conflicts, order, broken = loops[loop][0] == "c", loops[loop][1] == "o", loops[loop][2]
            if is_legal and len(loops) > 2 and loops[2][1] == "o" and (mode or not overlapping):
                self.fault(function, loop, found, f"legal, but the exchanged loops compute other values in trial {trial} {mode}")
                return
            where = f"trial {trial}{' with ' + ' = '.join(sorted(overlapping)) if overlapping else ''} {mode}"
            if verdict == "independent" and conflicts:
                self.fault(function, loop, found, f"independent, but iterations conflict in {where}")
                return
            # A static or thread_local variable keeps its value until the next run.
            if verdict in POSITIVE and order and not needs_last and not (loop and has_static):
                self.fault(function, loop, found, f"{verdict}, but the order of the iterations matters in {where}")
                return
            # A recorded run has one copy of a variable, but in the program each thread may have its own copy.
            if claim != "proved" or function.guarded or drops_last:
                continue
            if conflicts and verdict == "independent" or (conflicts and not has_clauses):
                self.fault(function, loop, found, f"proved, but threads conflict in {where}")
                return
            if broken == "b" or (broken == "s" and not needs_last):
                self.fault(function, loop, found, f"proved, but a clause changes a value in {where}")
                return
            if conflicts:
                self.fault(function, loop, found, f"proved, but threads conflict in {where}")
                return
        # A clause leaves no value if no iteration runs, and recorded runs do not contain the number of iterations.
        if claim == "proved" and not drops_last and not any(each["text"].startswith("an iteration runs") for each in assumptions):
            for trial, (overlapping, digest, _) in sorted(parallel.items()):
                if trial in runs and not is_excluded(overlapping, assumptions) and digest != runs[trial][1]:
                    self.fault(function, loop, found, f"proved, but threads compute other values in trial {trial} {overlapping} {mode}")
                    return

    def fault(self, function, loop, found, what):
        text = "\n".join([*function.extras, *function.plain(f"f{function.number}")[0]])
        shown = json.dumps({key: found.get(key) for key in ("verdict", "claim", "assumptions", "transformations")})
        self.faults.append(f"f{function.number}, loop {loop}: {what}\n{text}\n{shown}\n")
        if self.arguments.keep:
            print(self.faults[-1], file=sys.stderr, flush=True)


def seed_of_commit(root):
    """A seed that depends on the last commit of the repository."""
    result = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    return int(result.stdout[:7], 16) if result.returncode == 0 else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("slice", type=pathlib.Path)
    parser.add_argument("compiler")
    parser.add_argument("--count", type=int, default=BATCH)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--each", action="store_true", help="one function for each construct, instead of random ones")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.root, arguments.slice = arguments.root.resolve(), arguments.slice.resolve()
    if arguments.seed is None:
        arguments.seed = int(os.environ.get("STAIRCASE_TEST_SEED") or seed_of_commit(arguments.root))
    print(f"# STAIRCASE_TEST_SEED={arguments.seed}")
    source = random.Random(arguments.seed)
    oracle = Oracle(arguments)
    constructs = [each for kind in CONSTRUCTS.values() for each in kind]
    start, done = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as directory:
        arguments.directory = arguments.keep or directory
        while done < arguments.count:
            count = min(BATCH, arguments.count - done)
            made = [functions.Function(source, number, constructs[number % len(constructs)] if arguments.each else None)
                    for number in range(done, done + count)]
            done += count
            positive = oracle.check(made, arguments.directory)
            oracle.check_mutants(positive, source, arguments.directory)
            if arguments.keep:
                print(dict(oracle.counts), f"{time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print("#", dict(oracle.counts), f"{time.monotonic() - start:.0f} s")
    counts = oracle.counts
    seen = counts["controls that conflict"], counts["controls"]
    changed = counts["mutants with other verdicts"], counts["mutants"]
    few_conflicts = [f"only {seen[0]} of {seen[1]} loops show a conflict"] if seen[0] < 0.8 * seen[1] else []
    few_changes = [f"only {changed[0]} of {changed[1]} verdicts change"] if changed[0] < 0.3 * changed[1] else []
    tap.report([("no run of a random function contradicts a verdict", oracle.faults),
                ("at least 80 % of the dependent loops show a conflict in a recorded run", few_conflicts),
                ("at least 30 % of the functions with a seeded dependence get another verdict", few_changes)], None)


if __name__ == "__main__":
    main()
