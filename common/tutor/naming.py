"""The names of what a finding of the analysis is about: elements of arrays that a kernel gets as arguments, and variables
in shared memory."""

import functools
import pathlib
import re

import rules

ROOT = pathlib.Path(__file__).resolve().parents[2]

LOOKED_THROUGH = 3  # lines after a `for` in which its body is looked for


def parameters_of(text, kernel):
    """The parameters of a kernel of a source, or of a header that it includes: pairs of the declaration and the name."""
    code = rules.without_comments(text + "\n" + headers_of(text))
    for name, _, start, end in rules.kernels(code):
        if name != kernel:
            continue
        inside = code[code.index("(", start) + 1:end - 1]
        parts, depth, begin = [], 0, 0
        for place, sign in enumerate(inside):
            depth += (sign in "(<[{") - (sign in ")>]}")
            if sign == "," and depth == 0:
                parts.append(inside[begin:place])
                begin = place + 1
        parts.append(inside[begin:])
        return [(part, found[-1]) for part in parts if (found := re.findall(rf"\b{rules.NAME}\b", part.split("=")[0]))]
    return []


@functools.cache
def headers_of(text):
    """The text of the workload's headers that a source includes, directly or through another of these headers."""
    workload = re.search(r"^namespace (\w+)", text, re.MULTILINE)
    texts, names = [], re.findall(r'#include "\.\./(\w+\.hpp)"', text)
    for name in names:
        path = ROOT / "stages" / (workload[1] if workload else "") / name
        if path.is_file():
            texts.append(path.read_text())
            names += [other for other in re.findall(r'#include "(?:\.\./)?(\w+\.hpp)"', texts[-1]) if other not in names]
    return "\n".join(texts)


def members_of(code, structure):
    """The arrays that are members of a structure: pairs of the declaration and the name, in the order of their
    declarations."""
    head = re.search(rf"\bstruct\s+{structure}\s*(?::\s*(?:public\s+)?({rules.NAME})[^{{;]*)?\{{", code)
    if not head:
        return []
    members = members_of(code, head[1]) if head[1] else []
    body = code[head.end():rules.closing(code, head.end() - 1) - 1]
    for kind, names in re.findall(rf"((?:\w+::)?\bView\s*<[^;{{}}]*?>|[\w:]+\s*\*)\s*((?:{rules.NAME}\s*,\s*)*{rules.NAME})\s*;", body):
        members += [(kind, name.strip()) for name in names.split(",")]
    return members


@functools.cache
def arrays_of(text, kernel):
    """The parameters of a kernel that are arrays, and the arrays in parameters that are structures: pairs of the
    declaration and the name."""
    arrays = []
    for declaration, name in parameters_of(text, kernel):
        if re.search(r"\bView\b|\*|\[", declaration):
            arrays.append((declaration, name))
        elif structure := re.match(rf"\s*(?:const\s+)?({rules.NAME})\s*<", declaration):
            code = rules.without_comments(text + "\n" + headers_of(text))
            arrays += [(kind, f"{name}.{member}") for kind, member in members_of(code, structure[1])]
    return arrays


# The sizes of integers in bytes.
INTEGERS = {"std::size_t": 8, "size_t": 8, "unsigned": 4, "int": 4, "long": 8}


def type_of(declaration, name):
    """The type in the declaration of a parameter, without const."""
    return re.sub(rf"\bconst\b|\b{name}\b.*", "", declaration, flags=re.DOTALL).strip()


def only_integer(text, kernel):
    """The name of the parameter of a kernel that is an integer, if there is exactly one; otherwise None."""
    names = [name for declaration, name in parameters_of(text, kernel) if type_of(declaration, name) in INTEGERS]
    return names[0] if len(names) == 1 else None


def members_in(code, structure):
    """The members of a structure that contains only numbers: pairs of the declaration and the name; None for other
    structures."""
    head = re.search(rf"\bstruct\s+{structure}\s*\{{", code)
    body = code[head.end():rules.closing(code, head.end() - 1) - 1] if head else "("
    if "(" in body or "<" in body:
        return None
    found = re.findall(rf"([\w:]+)\s+((?:{rules.NAME}\s*,\s*)*{rules.NAME})\s*;", body)
    return [(kind, name.strip()) for kind, names in found for name in names.split(",")]


def numbers_of(text, kernel, size):
    """The numbers among the arguments of a kernel, up to the first parameter of an unknown type: tuples of the name, the
    offset, the size in bytes, and whether it is a floating-point number; and the offset after them. `size` is the size of
    the type T or Real in bytes."""
    reals = {"T": size, "Real": size, "double": 8, "float": 4}
    numbers, end = [], 0

    def add(kind, name):
        nonlocal end
        width = reals.get(kind) or INTEGERS.get(kind)
        if width:
            end = -(-end // width) * width + width
            numbers.append((name, end - width, width, kind in reals))
        return bool(width)

    code = rules.without_comments(text + "\n" + headers_of(text))
    for declaration, name in parameters_of(text, kernel):
        kind = type_of(declaration, name)
        if re.search(r"\bView\b|\*", declaration):
            end = -(-end // 8) * 8 + 8
            extents = rank_of(declaration) if "View" in declaration else 0
            numbers += [(f"an extent of {name}", end + 8 * n, 8, False) for n in range(extents)]
            end += 8 * extents
        elif not add(kind, name):
            members = members_in(code, kind) if re.fullmatch(r"\w+", kind) else None
            if not members or not all(add(of_member, f"{name}.{member}") for of_member, member in members):
                break
    return numbers, end


def element_type_of(declaration):
    """The type of the elements of an array, from its declaration: for example T or double. A structure has its template
    arguments."""
    found = re.search(r"\bView\s*<\s*(?:const\s+)?(.*),\s*\d+\s*>", declaration, re.DOTALL) or re.match(
        r"\s*(?:const\s+)?([\w:]+(?:\s*<[^>]*>)?)\s*(?:const\s*)?\*", declaration)
    return found[1].strip() if found else ""


def ranges(indices):
    """Converts sorted indices to a text such as "0 to 15, 32"."""
    parts = []
    for index in indices:
        if parts and parts[-1][1] == index - 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ", ".join(f"{first} to {last}" if last > first else str(first) for first, last in parts)


def rank_of(declaration):
    """The number of indices of an array that is declared as a View; 1 for others."""
    found = re.search(r"\bView\s*<.*,\s*(\d)\s*>", declaration, re.DOTALL)
    return int(found[1]) if found else 1


def element_of(error, text, of_value):
    """The element of an array that a finding is about: its name and its extents as text, or None. `of_value` is the size of
    a value in bytes, for findings that do not know the size of the access."""
    argument = error.get("argument")
    if not argument:
        return None
    arrays = arrays_of(text, error["kernel"])
    if len(arrays) != argument["pointers"]:
        return None
    declaration, name = arrays[argument["pointer"]]
    width = argument["bytes"] or of_value
    if argument["byte"] % width or argument["byte"] < 0 or argument["of_bytes"] % width:
        return None
    index, count, rank = argument["byte"] // width, argument["of_bytes"] // width, rank_of(declaration)
    extents, all_of_them = argument["words"][:rank], 1
    for extent in extents:
        all_of_them *= extent
    is_known = re.search(r"\bView\b", declaration) and 0 < all_of_them <= count
    if rank == 1 or not is_known:
        size = all_of_them if is_known else count
        is_view = re.search(r"\bView\b", declaration)
        return f"{name}({index})" if is_view else f"{name}[{index}]", f"{size} element{'s' if size != 1 else ''}"
    places, rest = [], index
    for extent in reversed(extents[1:]):
        rest, place = divmod(rest, extent)
        places.append(place)
    return f"{name}({', '.join(map(str, [rest, *reversed(places)]))})", f"{' x '.join(map(str, extents))} elements"


def variable_of(error, text):
    """The variable in shared memory that a finding is about: its name, the line of its declaration (None: unknown), the
    element as text, and whether it is a single value; None if there is no variable."""
    variable = error.get("variable")
    if not variable:
        return None
    name = variable["name"]
    code = rules.without_comments(text)
    declared = next((found for found in re.finditer(r"__shared__\s+[^;]*;", code) if re.search(rf"\b{name}\b", found[0])),
                    None)
    line = rules.line_at(code, declared.start()) if declared else None
    is_single = bool(declared) and not re.search(rf"\b{name}\s*\[", declared[0])
    elements = [element for each, element in rules.shared_elements(text, variable["byte"], variable["of_bytes"])
                if each == name]
    return name, line, elements[0] if elements else name, is_single


def line_of_statement(text, line, name):
    """The line of a statement that uses a variable: a compiler may name the line of the `for` whose body the statement
    is."""
    lines = text.splitlines()
    if not 0 < line <= len(lines) or re.search(rf"\b{name}\b",
                                               lines[line - 1]) or not re.search(r"\b(?:for|while|if)\b", lines[line - 1]):
        return line
    return next((number for number in range(line + 1, min(len(lines), line + LOOKED_THROUGH) + 1)
                 if re.search(rf"\b{name}\b", lines[number - 1])), line)
