"""Rules of CUDA C++ that a source breaks, found before compilation. nvcc rejects such a program, or the program has another
meaning than the learner intends. Other compilers report these errors late, or at a line of another file."""

import math
import re

NAME = r"[A-Za-z_]\w*"


def without_comments(code):
    """The code, in which spaces replace comments and the contents of strings. Lines and columns stay the same."""
    def blank(match):
        text = match[0]
        if text[0] in "\"'":
            return text[0] + " " * (len(text) - 2) + text[-1]
        return re.sub(r"[^\n]", " ", text)

    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?<!\d\'\d)', blank, code, flags=re.DOTALL)


def line_at(code, offset):
    """The number of the line that contains an offset."""
    return code.count("\n", 0, offset) + 1


def closing(code, opening):
    """The offset after the bracket that closes the bracket at `opening`; the end of the code if there is none."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    depth, first = 0, code[opening]
    for offset in range(opening, len(code)):
        depth += (code[offset] == first) - (code[offset] == pairs[first])
        if depth == 0:
            return offset + 1
    return len(code)


def kernels(code):
    """The functions that are marked as kernels: the name, and the offsets of the mark, of the name, and after the
    parameters."""
    found, attributes = [], ("__launch_bounds__", "__cluster_dims__", "__attribute__", "alignas", "decltype")
    for mark in re.finditer(r"\b__global__\b", code):
        name = re.compile(rf"({NAME})\s*\(").search(code, mark.end())
        while name and name[1] in attributes:
            name = re.compile(rf"({NAME})\s*\(").search(code, closing(code, name.end() - 1))
        if name:
            found.append((name[1], mark.start(), name.start(), closing(code, name.end() - 1)))
    return found


def body_of(code, end_of_parameters):
    """The offsets of the first and the last character of a function's body; None for a declaration."""
    opening = re.compile(r"\s*(?:noexcept)?\s*\{").match(code, end_of_parameters)
    return (opening.end() - 1, closing(code, opening.end() - 1)) if opening else None


def broken(source):
    """Yields the line number and a sentence for each broken rule, ordered by line."""
    code = without_comments(source)
    yield from sorted(set([*not_launched(code), *not_marked(code), *not_void(code)]))


def not_launched(code):
    """Yields calls of kernels without an execution configuration, and launches with other brackets than <<<...>>>."""
    of_kernels = kernels(code)
    heads = {start for _, _, start, _ in of_kernels}
    for name in {name for name, *_ in of_kernels}:
        uses = re.compile(rf"(?<![\w.>&:]){name}\s*(?P<after><<<|<<|<(?!<)(?:(?!<<<)[^;(){{}}])*>\s*\(|\()")
        others = [use for use in uses.finditer(code) if use.start() not in heads and use["after"] != "<<<"]
        if any(use["after"].endswith("(") and not is_call(code, use.start()) for use in others):
            continue  # a host function has the same name
        for use in others:
            if use["after"] == "<<":
                yield line_at(code, use.start()), (f"'{name} <<' shifts: a launch has three brackets on each side, "
                                                   f"{name}<<<blocks, threads>>>(arguments)")
            else:
                yield line_at(code, use.start()), (f"the kernel '{name}' is called like a function of the host: a launch "
                                                   f"needs the "
                                                   f"execution configuration, {name}<<<blocks, threads>>>(arguments)")


def is_call(code, start):
    """Whether a name before a parenthesis is called and not declared. In a declaration, a type precedes the name."""
    before = code[:start].rstrip()
    word = re.search(r"(\w+|[>&*])$", before)
    return not (word and word[1] not in ("return", "else", "do", "co_return"))


def not_marked(code):
    """Yields functions that are launched but not marked as kernels."""
    marked = {name for name, *_ in kernels(code)}
    for launch in re.finditer(rf"\b({NAME})\s*(?:<(?!<)[^;(){{}}<]*>\s*)?<<<", code):
        name = launch[1]
        if name in marked:
            continue
        for function in re.finditer(rf"(?:^|[;}}>]|\n)(?P<head>[^;{{}}()<>]*?\bvoid\s+){name}\s*\(", code):
            if "__global__" not in function["head"]:
                line = line_at(code, function.end("head"))
                yield line, (f"'{name}' is launched in line {line_at(code, launch.start())}, but is no kernel: "
                             f"__global__ is missing before 'void {name}'")


def not_void(code):
    """Yields kernels whose return type is not void."""
    for name, mark, start, end in kernels(code):
        head = code[mark:start]
        if body_of(code, end) and not re.search(r"\bvoid\b", head):
            yield line_at(code, start), f"the kernel '{name}' must return void"


def copies(source, direction):
    """How many copies between host and device a source contains: those to the device (`in`) or to the host (`out`)."""
    method, kind = {"in": ("copy_from", "HostToDevice"), "out": ("copy_to", "DeviceToHost")}[direction]
    return len(re.findall(rf"\b{method}\w*\s*\(|\bcudaMemcpy{kind}\b", without_comments(source)))


def calls(code, name):
    """The calls of a function: pairs of the offset and the arguments as texts."""
    for call in re.finditer(rf"\b{name}\s*\(", code):
        end = closing(code, call.end() - 1)
        arguments, depth, begin = [], 0, call.end()
        for offset in range(call.end(), end):
            depth += (code[offset] in "([{") - (code[offset] in ")]}")
            if depth == 0 and code[offset] == "," or offset == end - 1:
                arguments.append(code[begin:offset].strip())
                begin = offset + 1
        yield call.start(), arguments


def definition_of(code, name):
    """The expression that initialises a variable; None if it is unknown."""
    found = re.search(rf"\b{name}\s*=(?!=)\s*([^;,]+)[;,]", code)
    return found[1] if found else None


def has_bytes(code, expression):
    """Whether a number of bytes may contain the factor sizeof: in the expression itself, or in the definition of a
    variable in it."""
    names = [name for name in re.findall(rf"\b{NAME}\b", expression) if name != "sizeof"]
    known = {name: definition_of(code, name) for name in names}
    return "sizeof" in expression or any(value is None or "sizeof" in value
                                         for value in known.values()) or not re.search(r"\w", expression)


def suspicious(source):
    """Yields the line number and a sentence for each statement that probably has an unintended meaning: a copy whose
    arguments do not match its direction or whose size has no factor sizeof, and an index of a thread without the size of the block."""
    code = without_comments(source)
    on_device = set(re.findall(rf"\bcudaMalloc\s*\(\s*(?:\(\s*void\s*\*\s*\*\s*\)\s*)?&\s*({NAME})", code))
    for start, arguments in calls(code, "cudaMemcpy(?:Async)?"):
        if len(arguments) < 4:
            continue
        target, origin, size, direction = arguments[:4]
        for kind, device, host, where in (("HostToDevice", target, origin, "first"),
                                          ("DeviceToHost", origin, target, "second")):
            if kind in direction and on_device and device not in on_device and host in on_device:
                yield line_at(code, start), (f"with cudaMemcpy{kind}, the {where} argument must be an array on the device, "
                                             f"and {device} is none, "
                                             f"but {host} is one: is the direction wrong, or are the two exchanged?")
        if not has_bytes(code, size):
            yield line_at(code, start), (f"the third argument is a number of bytes, and {size} has no factor sizeof: is it a "
                                         "number of elements?")
    index = re.compile(r"(?<![*\w.])(?<!\* )blockIdx\.([xyz])\s*\+\s*threadIdx\.\1(?!\s*\*)|(?<![*\w.])(?<!\* "
                       r")threadIdx\.([xyz])\s*\+\s*"
                       r"blockIdx\.\2(?!\s*\*)")
    for found in index.finditer(code):
        axis = found[1] or found[2]
        yield line_at(code, found.start()), (f"{found[0]} has the same value in threads of several blocks: is the factor "
                                             f"blockDim.{axis} missing, "
                                             f"as in blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}?")


def unclosed(source):
    """The brace that is not closed, if the source has more opening than closing braces: its line, and the function around
    it (None: unknown). The brace is the one that a closing brace with less indentation would close, or else the last open
    one."""
    code = without_comments(source)
    lines = code.splitlines()
    if code.count("{") <= code.count("}"):
        return None

    def indentation(number):
        return len(lines[number - 1]) - len(lines[number - 1].lstrip())

    opened, found = [], None
    for number, line in enumerate(lines, 1):
        for place, sign in enumerate(line):
            if sign == "{":
                opened.append(number)
            elif sign == "}" and opened:
                opening = opened.pop()
                if found is None and not line[:place].strip() and opening < number and indentation(number) < indentation(opening):
                    found = opening
    found = found or opened[-1]
    heads = [name for name in re.finditer(rf"^[^\s#/}}].*?\b({NAME})\s*\([^;]*?\)\s*\{{", code, re.MULTILINE | re.DOTALL)
             if line_at(code, name.start()) <= found and name[1] not in ("namespace", "if", "for", "while", "switch")]
    return found, heads[-1][1] if heads else None


def floats(source):
    """The variables of type float that a source declares: pairs of the line and the name; the name is empty for types such
    as View<float, 2>."""
    code = without_comments(source)
    for declaration in re.finditer(r"\bfloat\b(?!\s*[*&(])(?P<rest>[^;(){}=]*)(?P<end>[;(){}=]?)", code):
        line, rest = line_at(code, declaration.start()), declaration["rest"]
        if re.match(r"\s*[,>]", rest):
            yield line, ""
            continue
        parts = rest.split(",") if declaration["end"] in (";", "=") else rest.split(",")[:1]
        yield from ((line, name[0]) for part in parts if (name := re.search(NAME, part)) and declaration["end"] != "(")


def launches(source):
    """The line numbers of all launches with <<<...>>>."""
    code = without_comments(source)
    return [line_at(code, match.start()) for match in re.finditer(r"<<<", code)]


def threads_of(source, line):
    """The number of threads per block of the launch in a line, if it is a constant; otherwise None."""
    code = without_comments(source)
    for launch in re.finditer(r"<<<([^;]*?)>>>", code):
        configuration = launch[1].split(",")
        if line_at(code, launch.start()) == line and len(configuration) > 1:
            return value_of(source, configuration[1].strip())
    return None


def early_returns(source, line, kernel=""):
    """The line numbers of return statements in a condition before the first barrier, in the kernel that contains a line or
    has a name."""
    code = without_comments(source)
    for name, _, _, end in kernels(code):
        body = body_of(code, end)
        if not body or name != kernel and not line_at(code, body[0]) <= line <= line_at(code, body[1] - 1):
            continue
        barrier = re.compile(r"\b__syncthreads\w*\s*\(|\.sync\s*\(").search(code, *body)
        if barrier is None:
            return []
        return [line_at(code, each.start()) for each in re.compile(r"\breturn\s*;").finditer(code, body[0], barrier.start())]
    return []


def only_updated(source):
    """Yields the line number and the name of each array that a kernel updates, for example with +=, and that no kernel
    stores with =."""
    code = without_comments(source)
    bodies = [body for _, _, _, end in kernels(code) if (body := body_of(code, end))]
    element = rf"\b({NAME}(?:\s*\.\s*{NAME})*)\s*(?:\((?:[^();]|\([^()]*\))*\)|\[[^\];]*\])\s*"
    stored = {found[1] for body in bodies for found in re.compile(element + r"=(?!=)").finditer(code, *body)}
    for body in bodies:
        for found in re.compile(element + r"[-+*/]=").finditer(code, *body):
            in_shared = re.search(rf"\b{found[1]}\s*\[", code[body[0]:found.start()]) and "[" in found[0]
            if found[1] not in stored and not in_shared:
                yield line_at(code, found.start()), found[1]


def updated_in(line, element):
    """The element that a line updates, as text, for example c(i, j): its old value is used. `element` is the element that
    is known from a finding, or empty. The result is None if the line updates no element, or another array."""
    array = re.escape(re.split(r"[(\[]", element)[0].split(".")[-1]) if element else NAME
    found = re.search(rf"\b({array}\s*(?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]))\s*[-+*/]=|\batomic\w+\s*\(\s*&?\s*([\w.]*\b{array}\b[^,]*)", line)
    return element or found[1] or found[2].strip() if found else None


def returns_of(source, kernel):
    """The lines of the conditional returns of a kernel."""
    code = without_comments(source)
    bodies = [body for name, _, _, end in kernels(code) if name == kernel and (body := body_of(code, end))]
    return [line_at(code, each.start()) for body in bodies for each in re.compile(r"\breturn\s*;").finditer(code, *body)]


def arrays_in_shared(source):
    """Yields the shared-memory arrays that a source declares: the name, and the extents as numbers."""
    for declaration in re.finditer(r"__shared__\s+([^;]*);", without_comments(source)):
        for name, extents in re.findall(rf"\b({NAME})((?:\s*\[[^\]]*\])+)", declaration[1]):
            values = [value_of(source, extent.strip()) for extent in re.findall(r"\[([^\]]*)\]", extents)]
            if all(value for value in values):
                yield name, values


def arrays(source):
    """All arrays with known extents that a source declares: pairs of the name and the extents."""
    for name, extents in re.findall(rf"(?:[\w>&*,]\s+|,)({NAME})((?:\s*\[[^\]]+\])+)\s*(?=[;,=)])",
                                    without_comments(source)):
        values = [value_of(source, extent.strip()) for extent in re.findall(r"\[([^\]]*)\]", extents)]
        if all(value for value in values):
            yield name, values


def shared_elements(source, byte, size):
    """Yields the array elements to which a byte of a shared-memory variable of `size` bytes can belong. Each result is the
    name of the array and the element as text, such as left[3][4]."""
    for name, extents in arrays_in_shared(source):
        count = math.prod(extents)
        if size % count or size // count not in (1, 2, 4, 8, 16):
            continue
        place, indices = byte // (size // count), []
        for extent in reversed(extents):
            place, rest = divmod(place, extent)
            indices.insert(0, rest)
        yield name, name + "".join(f"[{index}]" for index in indices)


def value_of(source, expression):
    """The value of an integer expression of literals, + - * / and constants of the source; None if the value is unknown."""
    code = without_comments(source)
    for _ in range(8):
        name = re.search(rf"\b{NAME}\b", expression)
        if not name:
            break
        constant = re.search(rf"\bconst(?:expr)?\b[^;(){{}}]*?\b{name[0]}\s*=\s*([^;,]+)|#define\s+{name[0]}\s+(\S+)", code)
        if not constant:
            return None
        expression = re.sub(rf"\b{name[0]}\b", f"({constant[1] or constant[2]})", expression)
    if not re.fullmatch(r"[\d\s()+*/-]+", expression):
        return None
    try:
        return int(eval(expression.replace("/", "//"), {"__builtins__": {}}))  # contains only digits and operators
    except (SyntaxError, ZeroDivisionError, TypeError):
        return None
