"""Random parallel regions of OpenMP, as text for the slicer and as a model that finds their data races.

A region consists of worksharing loops, `single`, `master`, `critical`, `atomic`, `sections`, barriers and plain statements.
The model executes a region for given sizes. It records each access with the barriers before it, and with the threads that
may execute it. Two accesses race if no barrier separates them, different threads may execute them, they are not mutually
exclusive, and at least one of them writes.
"""

import dataclasses
import itertools

ARRAYS = ("a", "b", "d")
SIZES = tuple(itertools.product((0, 1, 2, 3, 5, 8), (0, 1, 3, 8)))
EXTENT = 64


@dataclasses.dataclass(frozen=True)
class Reference:
    """A scalar, or an element whose subscripts are each a counter (or nothing) plus a constant."""

    name: str
    subscripts: tuple = ()

    def text(self):
        def one(subscript):
            counter, constant = subscript
            if not counter:
                return str(constant)
            return counter if constant == 0 else f"{counter} {'+' if constant > 0 else '-'} {abs(constant)}"
        return self.name + "".join(f"[{one(each)}]" for each in self.subscripts)

    def place(self, counters):
        return self.name, tuple((counters[counter] if counter else 0) + constant for counter, constant in self.subscripts)


@dataclasses.dataclass
class Statement:
    """An assignment `to = sum of reads`, or an update `to += ...`, possibly under a condition, `atomic` or `critical`."""

    to: Reference
    reads: list
    is_update: bool = False
    condition: str = ""
    guard: str = ""  # atomic, or critical with its name

    def updates(self):
        """Whether the statement is `x += e` or `x = x + e`, where e does not contain x."""
        return self.reads.count(self.to) == (0 if self.is_update else 1)

    def lines(self):
        value = " + ".join([each.text() for each in self.reads] or ["1"])
        text = f"{self.to.text()} {'+=' if self.is_update else '='} {value};"
        text = f"if ({self.condition}) {text}" if self.condition and not self.guard else text
        return ([f"#pragma omp {self.guard}"] if self.guard else []) + [text]


@dataclasses.dataclass
class Loop:
    """A worksharing loop. With `inner`, a second loop over j surrounds the body."""

    number: int
    first: int
    end: str
    body: list
    inner: str = ""  # the end of the loop over j
    is_collapsed: bool = False
    inner_is_shared: bool = False  # whether j is declared outside of the region
    schedule: str = ""
    nowait: bool = False
    clauses: dict = dataclasses.field(default_factory=dict)  # the kind of clause for each variable name

    def pragma(self, combined=None):
        """The directive. If `combined` is given, the directive is `parallel for` with these clauses first."""
        words = ["#pragma omp for" if combined is None else f"#pragma omp parallel for {combined}".strip()]
        words += ["collapse(2)"] * self.is_collapsed
        words += [f"schedule({self.schedule})"] * bool(self.schedule)
        for name, kind in self.clauses.items():
            words.append(f"reduction(+ : {name})" if kind == "reduction" else f"{kind}({name})")
        return " ".join(words + ["nowait"] * self.nowait)


@dataclasses.dataclass
class Item:
    """A construct of a region other than a loop: its kind, its statements or items, and its clauses."""

    kind: str  # plain, single, master, sections, barrier, if, repeat
    parts: list = dataclasses.field(default_factory=list)
    nowait: bool = False
    condition: str = ""
    clauses: dict = dataclasses.field(default_factory=dict)

    def pragma(self):
        clauses = [f"{kind}({'+ : ' if kind == 'reduction' else ''}{name})" for name, kind in self.clauses.items()]
        return " ".join([f"#pragma omp {self.kind}", *clauses, *["nowait"] * self.nowait])


@dataclasses.dataclass
class Access:
    phase: int
    construct: int
    threads: tuple  # the data that determine the threads: see may_differ()
    place: tuple
    is_write: bool
    guard: str
    loop: int  # the number of the loop, or -1
    iteration: int = 0  # the counter of the loop


def may_differ(one, other):
    """Whether different threads may execute two accesses, for some number of threads."""
    if one.threads[0] == "every" or other.threads[0] == "every":
        return True
    if one.threads[0] == other.threads[0] == "master":
        return False
    if one.construct == other.construct:
        return one.threads != other.threads
    for loop, rest in ((one, other), (other, one)):
        # The first chunk of a static schedule belongs to the first thread.
        if rest.threads[0] == "master" and loop.threads[0] == "static" and loop.threads[3]:
            return loop.threads[1] != 0
    # Two static schedules with the same chunks distribute their iterations in the same way.
    if one.threads[0] == other.threads[0] == "static" and one.threads[2:] == other.threads[2:]:
        return one.threads[1] != other.threads[1]
    return True


class Run:
    """The accesses of a region for given sizes, and the loops whose clauses change a value."""

    def __init__(self, region, n, m):
        self.region, self.sizes = region, {"n": n, "m": m}
        self.accesses, self.broken = [], set()
        self.phase = self.construct = 0
        self.copies = dict(region.private)  # private variables, and whether each thread's copy has a value
        self.written_in = {}  # the loop whose iterations wrote a private variable last
        self.stale = {}  # shared variables whose value a loop would have changed
        self.items(region.items)
        self.phase += 1
        for name in region.read_after:
            for of in (self.written_in.get(name), self.stale.get(name)):
                if of is not None:
                    self.broken.add(of)

    def number(self, text):
        """The value of an expression: a bound of a loop, or a condition."""
        return eval(text, {"__builtins__": {}}, dict(self.sizes))  # this evaluates only text of the generator

    def note(self, threads, reference, counters, is_write, guard="", loop=-1):
        self.accesses.append(Access(self.phase, self.construct, threads, reference.place(counters), is_write, guard, loop,
                                    counters.get("i", 0)))

    def items(self, items):
        for item in items:
            self.construct += 1
            if isinstance(item, Loop):
                self.loop(item)
            elif item.kind == "barrier":
                self.phase += 1
            elif item.kind == "if":
                if self.number(item.condition):
                    self.items(item.parts)
            elif item.kind == "repeat":
                for _ in range(2):
                    self.items(item.parts)
            else:
                self.construct_of(item)

    def construct_of(self, item):
        """Executes a construct that one thread or each thread executes."""
        kept = self.copies
        for name, kind in item.clauses.items():
            if kind == "firstprivate":
                self.note(("every",) if item.kind == "sections" else ("single",), Reference(name), {}, False)
        # The values of the copies do not matter, because no loop of the region reads them.
        self.copies = kept | {name: True for name in item.clauses}
        for number, section in enumerate(item.parts if item.kind == "sections" else [item.parts]):
            self.statements(section, ("section", number) if item.kind == "sections" else (item.kind if item.kind != "plain" else "every",))
        self.copies = {name: self.copies[name] for name in kept}
        for name, kind in item.clauses.items():
            if kind in ("lastprivate", "reduction"):
                self.note(("section", -1), Reference(name), {}, True, "combine")
                self.stale.pop(name, None)
        self.phase += item.kind in ("single", "sections") and not item.nowait

    def statements(self, statements, threads):
        for statement in statements:
            if statement.condition and not self.number(statement.condition):
                continue
            reads = statement.reads + [statement.to] * statement.is_update
            for read in reads:
                self.read(read, threads, statement.guard)
            if statement.to.name in self.copies:
                self.copies[statement.to.name] = True
                self.written_in.pop(statement.to.name, None)
            else:
                self.note(threads, statement.to, {}, True, statement.guard)
                self.stale.pop(statement.to.name, None)

    def read(self, reference, threads, guard):
        if reference.name in self.copies:
            if reference.name in self.written_in:
                self.broken.add(self.written_in[reference.name])
            return
        if reference.name in self.stale:
            self.broken.add(self.stale[reference.name])
        self.note(threads, reference, {}, False, guard)

    def loop(self, loop):
        iterations = list(range(loop.first, self.number(loop.end)))
        inner = list(range(self.number(loop.inner))) if loop.inner else [0]
        space = [(i, j) for i in iterations for j in inner] if loop.is_collapsed else [(i, None) for i in iterations]
        kind, _, chunk = loop.schedule.partition(", ")
        own = {name: kind in ("firstprivate",) for name, kind in loop.clauses.items()}
        counter = Reference("j")
        has_own_counter = not loop.inner_is_shared or loop.is_collapsed or "j" in loop.clauses or "j" in self.copies
        for name, clause in loop.clauses.items():
            if clause == "firstprivate":
                self.note(("every",), Reference(name), {}, False, loop=loop.number)
        written, last_writes, reads_first = set(), set(), set()
        for k, (i, j) in enumerate(space):
            threads = (kind or "any", k // int(chunk or 1), (len(space), chunk), bool(chunk))
            mine = set()
            for j in [j] if j is not None else inner:
                if loop.inner and not has_own_counter:
                    for is_write in (False, True):
                        self.note(threads, counter, {}, is_write, loop=loop.number)
                self.iteration(loop, threads, {"i": i, "j": j, **self.sizes}, own, mine, reads_first)
            written |= mine
            last_writes = mine
        if not space:
            return self.end(loop)
        for name in reads_first:
            if name in written:
                self.broken.add(loop.number)
        for name in written:
            clause = loop.clauses.get(name)
            if clause == "lastprivate":
                self.stale.pop(name, None)
                if name not in last_writes:
                    self.stale[name] = loop.number
            elif clause in ("private", "firstprivate"):
                self.stale[name] = loop.number
            elif clause is None and name in self.copies:
                self.written_in[name] = loop.number
        for name, clause in loop.clauses.items():
            if clause in ("lastprivate", "reduction"):
                self.note(("any", -1, (len(space), ""), False), Reference(name), {}, True, "combine", loop.number)
            if clause == "lastprivate" and name not in written:
                self.stale[name] = loop.number
        self.end(loop)

    def end(self, loop):
        self.phase += not loop.nowait

    def iteration(self, loop, threads, counters, own, mine, reads_first):
        for statement in loop.body:
            if statement.condition and not eval(statement.condition, {"__builtins__": {}}, counters):
                continue
            for read in statement.reads + [statement.to] * statement.is_update:
                is_own = read.name in own or read.name in self.copies
                if not is_own:
                    if read.name in self.stale:
                        self.broken.add(self.stale[read.name])
                    self.note(threads, read, counters, False, statement.guard, loop.number)
                elif loop.clauses.get(read.name) != "reduction" and read.name not in mine:
                    reads_first.add(read.name)
                    has_value = own[read.name] if read.name in own else self.copies[read.name]
                    if not has_value:
                        self.broken.add(loop.number)
                    if read.name not in own and read.name in self.written_in:
                        self.broken.add(self.written_in[read.name])
                        self.broken.add(loop.number)
                elif loop.clauses.get(read.name) == "reduction" and not (statement.updates() and read == statement.to):
                    self.broken.add(loop.number)
            if statement.to.name in own or statement.to.name in self.copies:
                mine.add(statement.to.name)
                if loop.clauses.get(statement.to.name) == "reduction" and not statement.updates():
                    self.broken.add(loop.number)
            else:
                self.note(threads, statement.to, counters, True, statement.guard, loop.number)

    def races(self):
        """Maps the number of each loop with a data race to a pair of racing accesses."""
        found = {}
        if self.region.threads == "1":
            return found
        together = {}
        for access in self.accesses:
            together.setdefault((access.phase, access.place), []).append(access)
        for accesses in together.values():
            if not any(access.is_write for access in accesses) or all(access.loop < 0 for access in accesses):
                continue
            for n, one in enumerate(accesses):
                for other in accesses[n:]:
                    if not (one.is_write or other.is_write) or (one.loop < 0 and other.loop < 0):
                        continue
                    if one.guard and one.guard == other.guard:
                        continue
                    if may_differ(one, other):
                        for loop in {one.loop, other.loop} - {-1}:
                            found.setdefault(loop, (one, other))
        return found


    def dependent(self):
        """The numbers of the loops in which two iterations access the same element and at least one of the accesses
        is a write."""
        first, found = {}, set()
        for access in self.accesses:
            if access.loop < 0 or not access.place[1]:
                continue
            seen = first.setdefault((access.construct, access.place), [access.iteration, access.is_write])
            if seen[0] != access.iteration and (seen[1] or access.is_write):
                found.add(access.loop)
            seen[1] = seen[1] or access.is_write
        return found


class Region:
    """A random function with a parallel region, or with a combined `parallel for`."""

    def __init__(self, random, number):
        self.random, self.number = random, number
        self.loops = 0
        self.private, self.shared, self.read_after, self.threads = {}, ["s", "t"], [], ""
        self.declared, self.clauses = [], []
        for name in ("p", "f"):
            if random.random() < 0.3:
                self.private[name] = name == "f"
        self.is_combined = random.random() < 0.2
        self.is_orphan = not self.is_combined and not self.private and random.random() < 0.08
        if self.is_combined:
            self.private = {}
        self.region_local = not self.is_combined and not self.is_orphan and random.random() < 0.2
        if self.region_local:
            self.private["r"] = True
        if random.random() < 0.05 and not self.is_orphan:
            self.threads = random.choice("12")
        self.outer_j = not self.is_orphan and random.random() < 0.25
        if self.outer_j and not self.is_combined and random.random() < 0.3:
            self.private["j"] = False
        self.scalars = [*self.shared, *(name for name in self.private if name != "j")]
        self.items = [self.loop()] if self.is_combined else self.some_items()
        if random.random() < 0.4:
            self.read_after = [name for name in self.shared if random.random() < 0.6]

    def some_items(self):
        random = self.random
        kinds = ["loop"] + random.choices(("loop", "plain", "single", "master", "critical", "atomic", "sections", "barrier"),
                                          (6, 2, 2, 2, 1, 1, 1, 2), k=random.choice((0, 1, 1, 2, 2, 3)))
        random.shuffle(kinds)
        items = [self.item(kind) for kind in kinds]
        chance = random.random()
        if chance < 0.06:
            return [Item("if", items, condition=random.choice(("n > 2", "m == 3")))]
        if chance < 0.14:
            return [Item("repeat", items)]
        return items

    def item(self, kind):
        random = self.random
        if kind == "loop":
            return self.loop()
        if kind == "barrier":
            return Item("barrier")
        if kind in ("critical", "atomic"):
            return Item("plain", [self.statement((), kind)])
        clauses = {}
        if kind in ("sections", "single") and not self.is_orphan and random.random() < 0.2:
            clauses[random.choice(self.shared)] = random.choice(("private", "firstprivate") + ("lastprivate", "reduction") * (kind == "sections"))
        if kind == "sections":
            return Item("sections", [[self.statement(())] for _ in range(2)], random.random() < 0.4, "", clauses)
        return Item(kind, [self.statement(()) for _ in range(random.choice((1, 1, 2)))], kind == "single" and random.random() < 0.4, "", clauses)

    def loop(self):
        random = self.random
        loop = Loop(self.loops, random.choice((0, 0, 1)), random.choice(("n", "n", "n", "n", "n - 1", "m", "6")), [])
        self.loops += 1
        loop.inner = random.choice(("", "", "", "m", "5"))
        loop.is_collapsed = bool(loop.inner) and random.random() < 0.5
        loop.inner_is_shared = bool(loop.inner) and self.outer_j and random.random() < 0.7
        loop.schedule = random.choice(("", "", "static", "static", "dynamic", "static, 2", "static, 1", "dynamic, 2"))
        loop.nowait = not self.is_combined and random.random() < 0.5
        for name in self.shared:
            if random.random() < 0.25 and not self.is_orphan:
                loop.clauses[name] = random.choice(("private", "firstprivate", "lastprivate", "reduction"))
        if loop.inner_is_shared and "j" not in self.private and not loop.is_collapsed and random.random() < 0.6:
            loop.clauses["j"] = "private"
        counters = ("i", "j") if loop.inner else ("i",)
        loop.body = [self.statement(counters, random.choice(("", "", "", "", "", "", "", "atomic", "critical", "critical(one)")))
                     for _ in range(random.choice((1, 1, 2)))]
        return loop

    def statement(self, counters, guard=""):
        random = self.random
        if guard:
            to = Reference(random.choice(self.shared)) if random.random() < 0.7 else self.element(counters)
            return Statement(to, [self.element(counters)], True, "", guard)
        to = self.element(counters, True) if random.random() < 0.7 else Reference(random.choice(self.scalars))
        reads = [self.element(counters) if random.random() < 0.7 else Reference(random.choice(self.scalars))
                 for _ in range(random.choice((0, 1, 1, 2)))]
        condition = random.choice(("i > 2", "n > 3", "i == 3", "i < 2")) if counters and random.random() < 0.12 else ""
        return Statement(to, reads, random.random() < 0.25, condition)

    def element(self, counters, is_write=False):
        random = self.random
        if len(counters) == 2:
            shift = random.choice((0, 0, 0, 0, 1)) if is_write else random.choice((0, 0, 0, 1))
            if random.random() < 0.8:
                return Reference("c", (("i", shift), ("j", random.choice((0, 0, 0, 1)))))
            return Reference(random.choice(ARRAYS), ((random.choice("ij"), 0),))
        if not counters:
            return Reference(random.choice(ARRAYS), (("", random.randint(0, 5)),))
        if random.random() < 0.06:
            return Reference(random.choice(ARRAYS), (("", random.randint(0, 5)),))
        return Reference(random.choice(ARRAYS), (("i", random.choice((0, 0, 0, 0, 0, 1, 2))),))

    # --- Text

    def lines(self):
        """The function, and the line of each loop."""
        parameters = f"double* a, double* b, double* d, double (*c)[{EXTENT}], long n, long m"
        names = "s = 1, t = 2"
        places = {}
        values = "double& s, double& t, " * self.is_orphan
        if self.is_orphan:
            parameters = parameters.replace("double* a", values + "double* a", 1)
        header = [f"void h{self.number}({parameters}) {{"] if self.is_orphan else [f"double g{self.number}({parameters}) {{", f"double {names}" + "".join(f", {name} = 3" for name in self.private if name in "pf") + ";"]
        if self.outer_j and not self.is_orphan:
            header.append("long j = 0;")
        body = []

        def write(items):
            for item in items:
                if isinstance(item, Loop):
                    body.append(item.pragma(self.threads_clause() if self.is_combined else None))
                    write_loop(item)
                elif item.kind == "barrier":
                    body.append("#pragma omp barrier")
                elif item.kind in ("if", "repeat"):
                    body.append(f"if ({item.condition}) {{" if item.kind == "if" else "for (int again = 0; again < 2; ++again) {")
                    write(item.parts)
                    body.append("}")
                elif item.kind == "sections":
                    body.append(item.pragma())
                    body.append("{")
                    for section in item.parts:
                        body.extend(["#pragma omp section", "{", *(line for each in section for line in each.lines()), "}"])
                    body.append("}")
                else:
                    lines = [line for each in item.parts for line in each.lines()]
                    if item.kind != "plain":
                        lines = [item.pragma(), "{", *lines, "}"]
                    body.extend(lines)

        def write_loop(loop):
            places[loop.number] = len(body)
            body.append(f"for (long i = {loop.first}; i < {loop.end}; ++i)" + ("" if loop.is_collapsed else " {"))
            if loop.inner:
                declared = "" if loop.inner_is_shared else "long "
                body.append(f"for ({declared}j = 0; j < {loop.inner}; ++j) {{")
            body.extend(line for each in loop.body for line in each.lines())
            body.extend(["}"] * (1 + bool(loop.inner) - loop.is_collapsed))
        if not self.is_combined and not self.is_orphan:
            clauses = [f"{'firstprivate' if has_value else 'private'}({name})" for name, has_value in self.private.items() if name != "r"]
            header += [" ".join(["#pragma omp parallel", *clauses, self.threads_clause()]).strip(), "{"]
            header += ["double r = 1;"] * self.region_local
        write(self.items)
        offset = len(header)
        after = [] if self.is_combined else ["}"]
        if self.is_orphan:
            after += [f"double g{self.number}({parameters.replace(values, '')}) {{", f"double {names};",
                      f"#pragma omp parallel {self.threads_clause()}".strip(), f"h{self.number}(s, t, a, b, d, c, n, m);"]
        after.append("return " + " + ".join(self.read_after or ["0"]) + ";")
        return [*header, *body, *after, "}"], {number: offset + line for number, line in places.items()}

    def threads_clause(self):
        return f"num_threads({self.threads}) " if self.threads else ""

    def truth(self):
        """The loops with data races, the loops whose clauses change a value, and the loops with dependent iterations.
        Each loop is mapped to the first sizes for which this is the case."""
        races, broken, dependent = {}, {}, {}
        for n, m in SIZES:
            run = Run(self, n, m)
            for loop in run.dependent():
                dependent.setdefault(loop, (n, m))
            for loop, pair in run.races().items():
                races.setdefault(loop, (n, m, pair))
            for loop in run.broken:
                broken.setdefault(loop, (n, m))
        return races, broken, dependent
