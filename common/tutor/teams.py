"""Reads the OpenMP directives of a source: loops that are not distributed, variables that all threads share or that have no
value, and elements that several iterations of a distributed loop change."""

import re

import rules

NAME = rules.NAME
# A declaration of a variable: a type, and the name with its initial value.
DECLARED = r"(?<![\w.])(?!return\b|else\b|case\b|new\b|delete\b)[A-Za-z_][\w:]*(?:<[^;(){{}}]*>)?[\s&*]+(?:{name})\s*(?=[=;,{{:\[)])"
PRIVATE = r"\b(?:private|firstprivate|lastprivate|reduction|linear)\s*\(([^)]*)\)"
SERIAL = {"critical": "a critical section", "ordered": "an ordered section", "omp_set_lock": "a lock"}


def statement_end(code, offset):
    """The offset after the statement that begins at an offset."""
    head = re.compile(r"\s*(?:#pragma[^\n]*\n\s*)*").match(code, offset).end()
    if code[head:head + 1] == "{":
        return rules.closing(code, head)
    if loop := re.compile(r"(?:for|while|if)\s*\(").match(code, head):
        return statement_end(code, rules.closing(code, loop.end() - 1))
    end = code.find(";", head)
    return end + 1 if end >= 0 else len(code)


def directives(code):
    """The directives: the offset, the text without continuation marks, and the offsets of the statement after it."""
    for found in re.finditer(r"#pragma\s+omp\b((?:[^\\\n]|\\\n)*)\n", code):
        yield found.start(), re.sub(r"\\\n", " ", found[1]).strip(), found.end(), statement_end(code, found.end())


def function_start(code, offset):
    """The offset of the head of the function that contains an offset, as far as it is known."""
    return max((found.start() for found in re.finditer(r"^\S[^\n;]*\(", code[:offset], re.MULTILINE)), default=0)


def is_declared(code, name):
    """Whether code declares a variable."""
    return re.search(DECLARED.format(name=re.escape(name)), code) is not None


def listed(text):
    """The names in a clause such as reduction(+ : a, b)."""
    return re.findall(NAME, text.split(":")[-1])


def of_source(source):
    """Yields the line number and a sentence for each directive that hardly has the intended meaning."""
    code = rules.without_comments(source)
    found = list(directives(code))
    regions = [(begin, end) for _, text, begin, end in found if re.match(r"parallel\b", text)]
    for start, text, begin, end in found:
        body = code[begin:end]
        line = rules.line_at(code, start)
        if re.fullmatch(r"parallel(?:\s+(?!for\b|sections\b|loop\b|master\b|masked\b).*)?",
                        text) and re.match(r"\s*for\s*\(", body) and \
                "#pragma" not in body and "omp_get_thread_num" not in body:
            yield line, ("each thread of the team executes the whole loop after this directive: should the directive "
                         "be parallel for?")
        if re.match(r"for\b", text) and not regions:
            yield line, ("the loop is distributed only among the threads of an enclosing parallel region, and there is "
                         "none: should the directive be parallel for?")
        names, _ = derived(code, *next((region for region in regions if region[0] <= start < region[1]), (0, 0)))
        if re.match(r"(?:single|master|masked)\b", text) and (used := [name
                                                                       for name in dict.fromkeys(re.findall(NAME, body))
                                                                       if name in names]):
            yield line, (f"only one thread executes the statement after this directive, and {used[0]} is different in each "
                         f"thread: the parts of "
                         "all other threads are left out")
        region = next((region for region in regions if region[0] <= start < region[1]), None)
        if region and re.match(r"(?:single|master|masked)\b", text):
            changed = re.findall(rf"(?<![\w.]){NAME}(?=\s*[-+*/]?=(?!=))",
                                 body) + [name for swap in re.findall(r"\bswap\s*\(([^()]*)\)", body)
                                                                                  for name in re.findall(NAME, swap)]
            if own := [name for name in changed if is_declared(code[region[0]:start], name) and not is_declared(body, name)]:
                yield line, (f"only one thread executes the statement after this directive, and each thread has its own "
                             f"{own[0]}, "
                             "which stays as it is in all other threads")
        for name in [name for clause in re.findall(r"\bprivate\s*\(([^)]*)\)", text) for name in listed(clause)]:
            first = re.search(rf"\b{name}\b\s*(\+=|-=|\*=|/=|=(?!=)|\S)", body)
            if first and first[1] != "=":
                yield rules.line_at(code, begin + first.start()), (
                    f"private({name}) gives each thread a variable {name} without a value, and this line uses its value: "
                    f"set it before, in "
                    "the body of the loop")
        for clause in re.findall(r"\breduction\s*\(([^)]*)\)", text):
            for name in listed(clause):
                stored = re.search(rf"\)\s*=\s*{name}\s*;", body)
                if stored and not re.search(rf"\b{name}\s*=(?!=)", body):
                    yield rules.line_at(code, begin + stored.start()), (
                        f"each thread has one {name} for all its iterations, and {name} is never set to zero between two "
                        f"elements")


def derived(code, begin, end):
    """The names of the variables that depend on the index of the thread in a part of the code, and the lines of their
    definitions."""
    names, lines = {"omp_get_thread_num"}, []
    for found in re.finditer(rf"\b({NAME})\s*=(?!=)\s*([^;]*);", code[begin:end]):
        if names & set(re.findall(NAME, found[2])):
            names.add(found[1])
            lines.append(rules.line_at(code, begin + found.start()))
    return names - {"omp_get_thread_num"}, lines


def of_parts(source):
    """A sentence about the lines that compute the part of each thread, or None if there are none."""
    code = rules.without_comments(source)
    for start, text, begin, end in directives(code):
        _, lines = derived(code, begin, end)
        if re.match(r"parallel\b", text) and lines:
            where = f"line {lines[0]} computes" if len(lines) == 1 else (
                f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]} compute")
            return f"{where} the part of each thread: do two parts overlap, or does a part go missing?"
    return None


def of_counts(mine, own):
    """Sentences about counts of a wrong solution that differ from the stage's on the same problem."""
    for name, what, question in (("regions", "parallel regions", "is one started too often, or not at all?"),
                                 ("team_threads", "threads in all teams", "is the clause num_threads missing or "
                                                                                 "wrong?"),
                                 ("team_barriers", "barriers of a team, counted by each thread", "is a barrier missing, or "
                                                                                                 "one too many?")):
        if mine.get(name, 0) != own.get(name, 0):
            yield f"{what}: {mine.get(name, 0)} (stage: {own.get(name, 0)}): {question}"


def serial(source, stages_text):
    """Yields the line number and a remark for each construct that lets the threads of a team execute statements one after
    the other, unless the stage has such a construct."""
    code, own = rules.without_comments(source), rules.without_comments(stages_text)
    for word, what in SERIAL.items():
        pattern = rf"#pragma\s+omp[^\n]*\b{word}\b" if word != "omp_set_lock" else rf"\b{word}\b"
        if (found := re.search(pattern, code)) and not re.search(pattern, own):
            yield rules.line_at(code, found.start()), (f"only one thread at a time executes {what}, so the threads wait "
                                                       f"for each other: is it "
                                                       "needed, or does each thread change elements of its own?")


def of_race(source, lines):
    """Yields sentences about a race in some lines: shared variables, and elements that do not depend on the index of the
    distributed loop."""
    code = rules.without_comments(source)
    texts = code.splitlines()
    for start, text, begin, end in directives(code):
        first, last = rules.line_at(code, begin), rules.line_at(code, end - 1)
        if not re.match(r"parallel\b|for\b|taskloop\b", text) or not any(first <= line <= last for line in lines):
            continue
        # A variable that is declared in the enclosing parallel region is private.
        region = next((at for at, other, first_of, last_of in directives(code) if re.match(r"parallel\b", other)
                       and first_of <= start < last_of),
                      start)
        body, before = code[begin:end], code[function_start(code, region):region]
        private = {name for _, other, at, _ in directives(code) if start <= at <= end or at == begin
                   for clause in re.findall(PRIVATE, other) for name in listed(clause)}
        loop = re.match(r"\s*for\s*\(([^;]*)", body) if re.search(r"\bfor\b", text) else None
        index = (re.search(rf"({NAME})\s*=", loop[1]) or [None, None])[1] if loop else None
        shared = [name for name in dict.fromkeys(re.findall(rf"(?<![\w.>]){NAME}(?=\s*(?:[-+*/]?=(?!=)|\+\+|--))|(?<=\+\+){NAME}|(?<=--){NAME}", body))
                  if name not in private and name != index and not is_declared(code[region:end], name)
                  and is_declared(before, name)]
        for name in shared:
            where = rules.line_at(code, function_start(code, region)
                                  + max(each.start() for each in re.finditer(DECLARED.format(name=re.escape(name)), before)))
            yield (f"{name}, declared in line {where}, is one variable for all threads: declare it inside the parallel "
                   f"loop, or name it in a clause "
                   "private or reduction")
        if shared:
            return
        if index:
            nearby = "\n".join(texts[line - 1] for line in lines if first <= line <= last)
            for target, indices in re.findall(rf"({NAME})\s*\(([^()]*)\)\s*[-+*/]?=(?!=)", nearby):
                names = re.findall(NAME, indices)
                if names and index not in names and not any(index in (rules.definition_of(body, name) or "")
                                                            for name in names):
                    yield (f"{target}({indices}) does not depend on {index}, the variable of the distributed loop in line "
                           f"{rules.line_at(code, begin)}: "
                           "several threads change the same elements")
                    return
