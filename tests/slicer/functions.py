"""Random C++ functions with loops, as text for the slicer and as text that records its accesses.

A function consists of simple statements, many of which are independent, and of a few constructs that are easy to
misjudge.
"""

import copy
import dataclasses
import re

from constructs import CONSTRUCTS

# Parameters by their names: the declaration, and the argument of the test.
PARAMETERS = {
    "a": ("double* a", 'A.d["a"]'), "b": ("double* b", 'A.d["b"]'), "q": ("const double* q", 'A.d["q"]'),
    "k": ("int* k", 'A.i["k"]'), "l": ("const int* l", 'A.i["l"]'), "h": ("short* h", "slots.h + 24"),
    "c": ("unsigned char* c", "slots.c + 24"), "f": ("bool* f", "slots.f + 24"), "s": ("double& s", '*A.d["s"]'),
    "u": ("double& u", '*A.d["u"]'), "z": ("int& z", '*A.i["z"]'), "bo": ("bool& bo", "slots.bo"),
    "v": ("std::vector<double>& v", "*A.v"), "w": ("std::vector<double>& w", "*A.w"),
    "vb": ("std::vector<bool>& vb", "vb0"), "sp": ("std::span<double> sp", 'std::span<double>(A.d["sp"], 300)'),
    "x": ("View<double, 1> x", 'View<double, 1>(A.d["x"], {300})'),
    "y": ("View<double, 2> y", 'View<double, 2>(A.d["y"], {12, 12})'),
    "mat": ("double (*mat)[8]", 'reinterpret_cast<double (*)[8]>(A.d["mat"])'), "o": ("Box& o", "*A.o"), "oo": ("Box& oo", "*A.oo"),
    "pt": ("Point* pt", "slots.pt + 24"), "af": ("Affine& af", "slots.af"), "ve": ("Vec& ve", "slots.ve[0]"),
    "vs": ("Vec* vs", "slots.vs + 16"), "co": ("std::complex<double>& co", "slots.co"),
    "ma": ("Matrix& ma", "slots.ma[0]"), "mb": ("const Matrix* mb", "slots.ma + 1"), "str": ("std::string& str", "str0"),
    "n": ("long n", "A.n"), "m": ("long m", "A.m"),
}
MAY_OVERLAP = ("a", "b", "q", "s", "u", "v", "w", "sp", "x", "y", "mat", "o", "oo", "g1", "g2", "gs", "k", "l", "z", "gk", "gi")
WORD = re.compile(r"[A-Za-z_]\w*")
MACRO = re.compile(r"\$[A-Z]")
LOCAL = re.compile(r"^(?:const )?(?:double|long|int|bool|float|unsigned char|Point|Box|std::array<double, 4>|std::pair<double, double>|std::optional<double>|mine::Array<double>|Duo\w+|Loc\w+)\*{0,2} (\w+)")


@dataclasses.dataclass
class Loop:
    counter: str
    type: str
    first: str
    condition: str
    step: str
    declares: bool = True
    pragmas: tuple = ()
    number: int = 0
    least: int = 2
    body: list = dataclasses.field(default_factory=list)
    private: list = dataclasses.field(default_factory=list)


class Function:
    """A random function. The methods `plain` and `recording` return its texts."""

    def __init__(self, random, number, only=None):
        """Uses random constructs, or only the given one."""
        self.random, self.number = random, number
        self.extras, self.before, self.after, self.globals = [], [], [], {}
        self.guarded = False
        self.arrays = random.sample(["a", "b", "v", "w", "sp", "x", "g1", "o.a", "pt", "y", "mat", "g2", "k", "h", "c"], random.randint(2, 4))
        self.writable = self.arrays[:random.randint(1, len(self.arrays))]
        self.homes = {}
        self.loops = [self.loop(0)]
        outer = self.loops[0]
        self.is_perfect = random.random() < 0.15
        if self.is_perfect or random.random() < 0.25:
            inner = self.loop(1)
            most = 0 if self.is_perfect else 1
            outer.body = self.simple(outer, random.randint(0, most)) + [inner] + self.simple(outer, random.randint(0, most))
            inner.body = self.simple(inner, random.randint(1, 2))
            self.loops.append(inner)
        else:
            outer.body = self.simple(outer, random.randint(0, 2))
        self.clauses = []
        used = [only] if only else [random.choice(CONSTRUCTS[random.choice(list(CONSTRUCTS))])
                                    for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3)))]
        for made in used:
            self.add(made)
        if not self.clauses and random.random() < 0.3:
            self.clauses.append("")
        self.exchanges = self.is_perfect and len(outer.body) == 1 and not self.clauses and self.is_rectangular()
        # The slicer refuses requests for loops whose iterations it cannot count, such as loops with narrow counters.
        self.exchanges = self.exchanges and {loop.type for loop in self.loops} <= {"long", "int"}
        if self.exchanges:
            outer.pragmas = ("#pragma staircase interchange(i, j)",)
        if self.clauses:
            clauses = " ".join(filter(None, self.clauses))
            text = f"omp parallel for {clauses}".strip()
            pragma = f'_Pragma("{text}")' if random.random() < 0.25 else f"#pragma {text}"
            if random.random() < 0.05:
                pragma = f"#pragma omp simd {' '.join(c for c in self.clauses if 'reduction' in c)}".strip()
                self.guarded = True
            outer.pragmas = (pragma,)
            if not re.fullmatch(r"\w+ (<=?|>=?) \w+", outer.condition):
                outer.condition = "i < n"
            outer.type = "long"

    def is_rectangular(self):
        """Whether the loops can be exchanged by exchanging their headers."""
        outer, inner = self.loops
        heads = f"{outer.first} {outer.condition} {inner.first} {inner.condition}"
        return not re.search(r"\b[zok]\b|gi", heads) and not re.search(r"\bi\b", f"{inner.first} {inner.condition}")

    # --- Generation

    def loop(self, number):
        random = self.random
        counter = "ij"[number]
        size = "n" if number == 0 else "m"
        first = random.choice(("0", "1", "2", "2", "2"))
        kind = random.choice(("long", "long", "long", "long", "int", "int", "short", "unsigned", "unsigned char", "std::size_t"))
        step = random.choice((f"++{counter}", f"++{counter}", f"++{counter}", f"{counter}++", f"{counter} += 2"))
        condition = random.choice((f"{counter} < {size}", f"{counter} < {size}", f"{counter} < {size}", f"{counter} < {size}", f"{counter} <= {size}", f"{counter} < {size} && {counter} < 5",
                                   f"{size} > {counter}", f"{counter} < 6", f"{counter} < std::min(n, m)" if kind == "long" else f"{counter} < {size}", f"{counter} + 1 < {size}"))
        if random.random() < 0.1:
            first, condition, step = f"{size} - 1", f"{counter} >= 2", f"--{counter}"
        loop = Loop(counter, kind, first, condition, step, number=number, least=int(first) if first.isdigit() else 2)
        if random.random() < 0.03 and number == 0:
            loop.condition = f"{counter} < " + random.choice(("z", "gi", "k[0]", "o.n"))
        if random.random() < 0.1:
            loop.declares = False
            self.before.append(f"{kind} {counter};")
        if number == 1 and random.random() < 0.2:
            loop.first, loop.least = "i", 0
        return loop

    def index(self, loop, constant=None):
        random = self.random
        counter = loop.counter
        if constant is None:
            constant = random.choice((0, 0, 0, 1, 1, 2, -1, 3))
        constant = max(constant, -loop.least)
        plain = counter if constant == 0 else f"{counter} {'+' if constant > 0 else '-'} {abs(constant)}"
        return random.choice((plain, plain, plain, plain, f"2 * {counter} + 1", "3")) if random.random() < 0.4 else plain

    def element(self, name, loop, is_write):
        random = self.random
        home = self.homes.setdefault(name, random.choice((0, 0, 0, 1)))
        is_home = name in self.writable and random.random() < 0.85
        at = self.index_at_home(loop, home) if is_home else self.index(loop)
        if name == "x":
            return f"x({at})"
        if name in ("y", "mat", "g2"):
            inner = loop.number == 1
            row = "i" if inner and random.random() < 0.85 else random.choice(("1", "2", "i"))
            column = at if inner or random.random() < 0.5 else "2"
            if not inner and column == "2":
                row = at
            column = column if "2 *" not in column else loop.counter
            row = row if "2 *" not in row else "i"
            return f"y({row}, {column})" if name == "y" else f"{name}[{row}][{column}]"
        if name == "pt":
            return f"pt[{at}].{'x' if is_write else random.choice('xy')}"
        if loop.number == 1 and name in ("a", "b", "v", "sp") and random.random() < 0.5:
            return f"{name}[i * m + {loop.counter}]"
        return f"{name}[{at}]"

    def index_at_home(self, loop, home):
        return loop.counter if home == 0 else f"{loop.counter} + {home}"

    def value(self, loop):
        random = self.random
        terms = [random.choice((f"{self.element(random.choice(self.arrays), loop, False)}", f"{self.element(random.choice(self.arrays), loop, False)}", "1", "2", f"q[{self.index(loop)}]", loop.counter))
                 for _ in range(random.choice((1, 1, 2)))]
        return random.choice((" + ", " - ", " * ")).join(terms) if len(terms) > 1 else terms[0]

    def simple(self, loop, count):
        lines = []
        for _ in range(count):
            target = self.element(self.random.choice(self.writable), loop, True)
            operation = self.random.choice(("=", "=", "=", "+=", "*="))
            line = f"{target} {operation} {self.value(loop)};"
            if self.random.random() < 0.15:
                line = f"if ({self.random.choice((f'{loop.counter} > 3', f'{loop.counter} % 2 == 0', 'n > 4', f'q[{loop.counter}] > 0'))}) {line}"
            lines.append(line)
        return lines

    def add(self, made):
        random = self.random
        loop = self.loops[1] if self.is_perfect else random.choice(self.loops)
        one, other = random.sample(("a", "b"), 2)

        def filled(text):
            def choose(found):
                which = found[0][1]
                return {"A": one, "B": other, "N": str(self.number), "I": None, "E": None}.get(which) or (
                    self.index(loop) if which == "I" else f"({self.value(loop)})")
            text = MACRO.sub(choose, text)
            return re.sub(r"\bi\b", loop.counter, text) if loop.number == 1 else text
        names = set(LOCAL.findall(made.before))
        if made.clause and loop.number == 1:
            loop = self.loops[0]
        taken = " ".join(self.before + [str(line) for line in self.loops[0].body])
        declared = re.findall(r"\b(\w+)(?: = |\{|\(|;|\[)", made.before)
        if any(re.search(rf"\b{name}\b", taken) for name in declared if name not in PARAMETERS) or (made.extra and self.extras):
            return
        if names and any(name in taken for name in names):
            return
        body = filled(made.body).split("\n")
        if any(re.match(r"(?:\w+[ *&]+)?t\b", line) for line in body) and re.search(r"\bt\b", taken):
            return
        at = random.randint(0, len(loop.body))
        loop.body[at:at] = ["{", *body, "}"] if ("#pragma" in made.body or random.random() < 0.3 or re.match(r"[\w:<>, ]+[ *&]+\w+ ?[=({;]", body[0])) else body
        if made.before:
            self.before.extend(filled(made.before).split("\n"))
        if made.after:
            self.after.append(filled(made.after))
        if made.extra:
            self.extras.append(filled(made.extra))
        self.globals.update({filled(name): value for name, value in made.globals})
        if made.clause:
            self.clauses.append(filled(made.clause))
            self.loops[0].private += [(kind, filled(name)) for kind, name in made.private]
        self.guarded = self.guarded or made.guarded

    def mutated(self, random):
        """A copy with one change that usually makes iterations depend on each other."""
        made = copy.deepcopy(self)
        outer = made.loops[0]
        loop = made.loops[-1] if made.exchanges else random.choice(made.loops)
        counter = loop.counter
        lines = [n for n, line in enumerate(loop.body) if isinstance(line, str) and re.search(rf"[\[(]{counter}[\])]", line)]
        kinds = ["shifted", "fixed", "halved"] * bool(lines) + ["carried", "added", "aliased"]
        if outer.private:
            kinds += ["dropped", "dropped"]
        kind = random.choice(kinds)
        if kind in ("shifted", "fixed", "halved"):
            at = random.choice(lines)
            found = random.choice(list(re.finditer(rf"[\[(]{counter}[\])]", loop.body[at])))
            other = {"shifted": f"{counter} + 1", "fixed": "3", "halved": f"{counter} / 2"}[kind]
            loop.body[at] = f"{loop.body[at][:found.start() + 1]}{other}{loop.body[at][found.end() - 1:]}"
        elif kind == "carried":
            made.before.append("double carried = 1;")
            loop.body.insert(random.randint(0, len(loop.body)) if "{" not in loop.body else 0, "g1[" + counter + "] = carried;")
            loop.body.append(f"carried = {counter};")
        elif kind == "added":
            loop.body.append(f"gs = gs / 2 + {counter};")
        elif kind == "aliased":
            made.before.append("b = a;")
            loop.body.append(f"a[{counter}] = b[{counter} + 1];")
        else:
            outer.pragmas = tuple(re.sub(r" (?:private|firstprivate|lastprivate|reduction)\(.*?\)(?= \w|$|\")", "", pragma, count=1) for pragma in outer.pragmas)
            remaining = " ".join(outer.pragmas)
            outer.private = [(kind, name) for kind, name in outer.private if re.search(rf"\b{re.escape(name)}\b", remaining)]
        return made

    # --- Texts

    def words(self):
        """The set of all names in the function."""
        text = " ".join([*self.before, *self.after, *self.clauses, *self.extras])
        for loop in self.loops:
            text += f" {loop.first} {loop.condition} {' '.join(str(line) for line in loop.body if isinstance(line, str))}"
        return set(WORD.findall(text)) | {"n", "m"}

    def parameters(self):
        words = self.words()
        return [name for name in PARAMETERS if name in words]

    def signature(self):
        return ", ".join(PARAMETERS[name][0] for name in self.parameters())

    def overlapping(self):
        words = self.words()
        return [name for name in MAY_OVERLAP if name in words]

    def plain(self, name):
        """The lines of the function for the slicer, and the index of each loop's line."""
        lines, places = [f"void {name}({self.signature()}) {{", *self.before], {}

        def write(loop):
            lines.extend(loop.pragmas)
            places[loop.number] = len(lines)
            lines.append(f"for ({loop.type + ' ' if loop.declares else ''}{loop.counter} = {loop.first}; {loop.condition}; {loop.step}) {{")
            for line in loop.body:
                write(line) if isinstance(line, Loop) else lines.append(line)
            lines.append("}")
        write(self.loops[0])
        return [*lines, *self.after, "}"], places

    def exchanged(self, name):
        """The lines with the headers of the two loops exchanged."""
        made = copy.deepcopy(self)
        outer, inner = made.loops
        for part in ("counter", "type", "first", "condition", "step", "declares"):
            one, other = getattr(outer, part), getattr(inner, part)
            setattr(outer, part, other)
            setattr(inner, part, one)
        return made.recording(name)

    def recording(self, name, permuted=None):
        """The lines that record accesses; the loop `permuted` runs its iterations in a random order."""
        lines = [f"void {name}({self.signature()}) {{"]
        for line in self.before:
            lines.append(line)
            for declared in self.declared(line):
                lines.append(f"oracle::object({declared});")
        parameters = self.parameters()
        values = [p for p in ("n", "m") if p in parameters]
        lines += [f"oracle::object({value});" for value in values]

        def write(loop):
            number = loop.number
            lines.extend(f"oracle::clause_of({number}, '{kind}', {of}, {str(of in ('s', 'z', 'bo', 'gs', 'gi')).lower()});" for kind, of in loop.private)
            if not loop.declares:
                lines.append(f"oracle::counter_of({number}, {loop.counter});")
            head = f"{loop.type + ' ' if loop.declares else ''}{loop.counter} = {loop.first}; {loop.condition}; {loop.step}"
            lines.append("{")
            if permuted == number:
                lines.append(f"std::vector<{loop.type}> all_{number}; for ({head}) {{ oracle::iterate({number}); all_{number}.push_back({loop.counter}); }}")
                counted = f"{loop.type} {loop.counter} = all_{number}[at_{number}];" if loop.declares else f"{loop.counter} = all_{number}[at_{number}];"
                lines.append(f"for (std::size_t at_{number} : oracle::order(all_{number}.size())) {{ {counted}")
            else:
                lines.append(f"oracle::Run run_{number}({number}); for ({head}) {{")
            lines.append(f"oracle::iterate({number});")
            for line in loop.body:
                if isinstance(line, Loop):
                    write(line)
                elif not line.startswith("#pragma"):
                    lines.append(line)
                    if number == 0 and len(self.loops) > 1:
                        lines.extend(f"oracle::object({declared});" for declared in self.declared(line))
            lines.append("}")
            if permuted == number and not loop.declares:
                lines.append(f"if (!all_{number}.empty()) {{ {loop.counter} = all_{number}.back(); {loop.step}; }}")
            lines.append("}")
        write(self.loops[0])
        return [*lines, *self.after, "}"]

    @staticmethod
    def declared(line):
        names = re.findall(r"/\*object (\w+)\*/", line)
        for part in re.split(r"; ?", line):
            found = LOCAL.match(part.strip())
            if found and not re.match(r"(?:return|delete|new|else)\b", part) and "&" not in part.split(found[1])[0]:
                names.append(found[1])
                names += re.findall(r", (\w+) = ", part)
        return names
