"""The names of what a finding of the analysis is about: elements of arrays that a kernel gets as arguments, and variables in shared
memory."""

import re

import rules

LOOKED_THROUGH = 3  # lines after a `for` in which its body is looked for


def parameters_of(text, kernel):
    """The parameters of a kernel: pairs of the declaration and the name."""
    code = rules.without_comments(text)
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


def arrays_of(text, kernel):
    """The parameters of a kernel that are arrays: pairs of the declaration and the name."""
    return [(declaration, name) for declaration, name in parameters_of(text, kernel) if re.search(r"\bView\b|\*|\[", declaration)]


def rank_of(declaration):
    """The number of indices of an array that is declared as a View; 1 for others."""
    found = re.search(r"\bView\s*<.*,\s*(\d)\s*>", declaration, re.DOTALL)
    return int(found[1]) if found else 1


def element_of(error, text, of_value):
    """The element of an array that a finding is about: its name and its extents as text, or None. `of_value` is the size of a value
    in bytes, for findings that do not know the size of the access."""
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
        return f"{name}({index})", f"{size} element{'s' if size != 1 else ''}"
    places, rest = [], index
    for extent in reversed(extents[1:]):
        rest, place = divmod(rest, extent)
        places.append(place)
    return f"{name}({', '.join(map(str, [rest, *reversed(places)]))})", f"{' x '.join(map(str, extents))} elements"


def variable_of(error, text):
    """The variable in shared memory that a finding is about: its name, the line of its declaration (None: unknown), the element as
    text, and whether it is a single value; None if there is no variable."""
    variable = error.get("variable")
    if not variable:
        return None
    name = variable["name"]
    code = rules.without_comments(text)
    declared = next((found for found in re.finditer(r"__shared__\s+[^;]*;", code) if re.search(rf"\b{name}\b", found[0])), None)
    line = rules.line_at(code, declared.start()) if declared else None
    is_single = bool(declared) and not re.search(rf"\b{name}\s*\[", declared[0])
    elements = [element for each, element in rules.shared_elements(text, variable["byte"], variable["of_bytes"]) if each == name]
    return name, line, elements[0] if elements else name, is_single


def line_of_statement(text, line, name):
    """The line of a statement that uses a variable: a compiler may name the line of the `for` whose body the statement is."""
    lines = text.splitlines()
    if not 0 < line <= len(lines) or re.search(rf"\b{name}\b", lines[line - 1]) or not re.search(r"\b(?:for|while|if)\b", lines[line - 1]):
        return line
    return next((number for number in range(line + 1, min(len(lines), line + LOOKED_THROUGH) + 1)
                 if re.search(rf"\b{name}\b", lines[number - 1])), line)
