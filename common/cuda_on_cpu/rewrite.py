#!/usr/bin/env python3
"""Turns CUDA C++ into plain C++ for the CPU device.

    rewrite.py SOURCE.cu OUTPUT.cpp DEPFILE COMPILER [FLAGS...]

The compiler's preprocessor runs first, so that launches in macros and in headers are seen. Then

    kernel<T><<<grid, block>>>(a, b)   becomes a call of cuda_on_cpu::launch,
    __shared__ T x[n]                  becomes a variable of the OS thread that runs the block,
    extern __shared__ T x[]            becomes the block's dynamic shared memory,
    __cluster_dims__(x, y, z)          moves to the launches of the kernel,
    (void*)kernel                      keeps its type where the runtime takes a kernel.

No line is added or dropped: the preprocessor's line markers keep debuggers on the lines of the .cu
file. What the rewriter does not understand ends it with a sentence that names file and line.
"""

import re
import subprocess
import sys

TOKEN = re.compile(
    r"""(?P<marker>^[ \t]*\#[^\n]*)
      | (?P<space>\s+?(?=\S|\Z|^[ \t]*\#))
      | (?P<string>(?:u8|[uUL])?(?:R"(?P<raw>[^()\\\s]{0,16})\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"))
      | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign><<<|::|->|.)""",
    re.VERBOSE | re.MULTILINE | re.DOTALL)
OPENERS = {'(': ')', '[': ']', '{': '}'}
CLOSERS = {close: opener for opener, close in OPENERS.items()}
TAKES_KERNEL = {'cudaLaunchKernel', 'cudaLaunchCooperativeKernel', 'cudaFuncSetAttribute'}


class Unsure(Exception):
    """The rewriter cannot tell what a piece of source means."""


class Source:
    """A preprocessed source as tokens; those of system headers are one opaque piece."""

    def __init__(self, text):
        self.kinds, self.tokens = [], []
        for is_system, region in regions(text):
            if is_system:
                self.add('opaque', region)
                continue
            for match in TOKEN.finditer(region):
                kind = match.lastgroup if match.lastgroup != 'raw' else 'string'
                self.add(kind, match.group())

    def add(self, kind, token):
        self.kinds.append(kind)
        self.tokens.append(token)

    def is_blank(self, i):
        return self.kinds[i] in ('space', 'marker', 'opaque')

    def next(self, i):
        """The first token after i that is not blank."""
        i += 1
        while i < len(self.tokens) and self.is_blank(i):
            i += 1
        if i == len(self.tokens):
            raise Unsure('the file ends too early')
        return i

    def previous(self, i):
        """The last token before i that is not blank."""
        i -= 1
        while i >= 0 and self.is_blank(i):
            i -= 1
        if i < 0:
            raise Unsure('the file begins too late')
        return i

    def close_of(self, i):
        """The partner of the bracket that token i opens."""
        depth = 0
        for j in range(i, len(self.tokens)):
            if self.kinds[j] == 'sign':
                depth += (self.tokens[j] in OPENERS) - (self.tokens[j] in CLOSERS)
                if depth == 0:
                    return j
        raise Unsure(f"'{self.tokens[i]}' is never closed")

    def open_of(self, i):
        """The partner of the bracket that token i closes."""
        depth = 0
        for j in range(i, -1, -1):
            if self.kinds[j] == 'sign':
                depth += (self.tokens[j] in CLOSERS) - (self.tokens[j] in OPENERS)
                if depth == 0:
                    return j
        raise Unsure(f"'{self.tokens[i]}' was never opened")

    def text(self, first, last):
        return ''.join(self.tokens[first:last])

    def replace(self, first, last, text):
        """Puts a text in the place of tokens first..last-1; the lines behind keep their numbers."""
        markers = [j for j in range(first, last) if self.kinds[j] == 'marker']
        if markers:
            text += '\n' + self.tokens[markers[-1]]
            lines = self.text(markers[-1] + 1, last).count('\n')
        else:
            lines = self.text(first, last).count('\n') - text.count('\n')
        self.tokens[first] = text + '\n' * lines
        self.kinds[first] = 'opaque'
        for j in range(first + 1, last):
            self.tokens[j] = ''
            self.kinds[j] = 'space'

    def place_of(self, i):
        """File and line of a token, by the last line marker."""
        for j in range(i, -1, -1):
            text = self.tokens[j]
            markers = list(re.finditer(r'^# (\d+) "([^"]*)".*\n?', text, re.MULTILINE))
            if self.kinds[j] in ('marker', 'opaque') and markers:
                last = markers[-1]
                lines = text.count('\n', last.end()) + self.text(j + 1, i).count('\n')
                return f'{last[2]}:{int(last[1]) + lines - (0 if last[0].endswith(chr(10)) else 1)}'
        return '?'


def regions(text):
    """Cuts a preprocessed text at its line markers: (is it a system header, text)."""
    marker = re.compile(r'^# \d+ "[^"]*"(.*)$', re.MULTILINE)
    begin, system = 0, False
    for match in marker.finditer(text):
        now_system = '3' in match[1].split()
        if now_system != system:
            yield system, text[begin:match.start()]
            begin, system = match.start(), now_system
    yield system, text[begin:]


def template_start(source, i):
    """The '<' that belongs to the '>' at i."""
    depth = 0
    while i >= 0:
        token = source.tokens[i]
        if source.kinds[i] == 'sign':
            if token in CLOSERS:
                i = source.open_of(i)
            elif token == '>':
                depth += 1
            elif token == '<':
                depth -= 1
                if depth == 0:
                    return i
            elif token in (';', '{', '}'):
                break
        i -= 1
    raise Unsure('the template arguments of the kernel have no beginning')


def kernel_start(source, launch):
    """The first token of the kernel's name before '<<<': a::b<c>, p->f, table[i] or (expression)."""
    i = source.previous(launch)
    if source.tokens[i] == ')':
        return source.open_of(i)
    while True:
        if source.tokens[i] == '>':
            i = source.previous(template_start(source, i))
        while source.tokens[i] == ']':
            i = source.previous(source.open_of(i))
        if source.kinds[i] != 'name':
            raise Unsure(f"'{source.tokens[i]}' before '<<<' is not the name of a kernel")
        before = source.previous(i)
        if source.tokens[before] == 'template':
            before = source.previous(before)
        if source.tokens[before] == '::':
            scope = source.previous(before)
            if source.kinds[scope] != 'name' and source.tokens[scope] != '>':
                return before
            if source.tokens[scope] in ('return', 'else', 'do'):
                return before
            i = scope
        elif source.tokens[before] in ('.', '->'):
            i = source.previous(before)
        else:
            return i


def launch_parts(source, launch):
    """The tokens that end the configuration and the arguments of '<<<' at `launch`."""
    i = launch + 1
    while source.text(i, i + 3) != '>>>':
        if source.tokens[i] == ';' or i + 3 >= len(source.tokens):
            raise Unsure("'<<<' has no '>>>'")
        i = source.close_of(i) + 1 if source.tokens[i] in OPENERS else i + 1
    opening = source.next(i + 2)
    if source.tokens[opening] != '(':
        raise Unsure("'>>>' has no argument list behind it")
    return i, opening, source.close_of(opening)


def base_name(kernel):
    """The kernel's name without scope and template arguments."""
    plain = re.sub(r'<.*', '', kernel, flags=re.DOTALL)
    return plain.split('::')[-1].strip()


# Arguments that have no type of their own: the kernel's parameter gives them one.
MARKER = re.compile(r'^[ \t]*#[^\n]*$', re.MULTILINE)
TYPELESS = re.compile(r'\s*(0|__null|\{.*\})\s*', re.DOTALL)


def split_arguments(source, opening, closing):
    """A launch's arguments as the parameters of a function, what it passes on, and what it is given.

    The compiler tells arguments apart better than commas do, so they stay together where they can.
    """
    whole = source.text(opening + 1, closing)
    pieces, begin, i = [], opening + 1, opening + 1
    while i < closing:
        if source.tokens[i] in OPENERS and source.kinds[i] == 'sign':
            i = source.close_of(i)
        elif source.tokens[i] == ',' and source.kinds[i] == 'sign':
            pieces.append(source.text(begin, i))
            begin = i + 1
        i += 1
    pieces.append(source.text(begin, closing))
    typeless = [bool(TYPELESS.fullmatch(MARKER.sub('', piece))) for piece in pieces]
    if not any(typeless):
        return 'auto... cuda_on_cpu_arguments', 'cuda_on_cpu_arguments...', whole
    passed = [piece if typeless[n] else f'cuda_on_cpu_argument_{n}'
              for n, piece in enumerate(pieces)]
    given = [(n, piece) for n, piece in enumerate(pieces) if not typeless[n]]
    return (', '.join(f'auto cuda_on_cpu_argument_{n}' for n, _ in given), ', '.join(passed),
            ','.join(piece for _, piece in given))


def rewrite_launch(source, launch, clusters):
    first = kernel_start(source, launch)
    kernel = source.text(first, launch).strip()
    config_end, opening, closing = launch_parts(source, launch)
    name = base_name(kernel)
    config = f'::cuda_on_cpu::configuration({source.text(launch + 1, config_end)})'
    if name in clusters:
        config += f'.with_cluster(dim3({clusters[name]}))'
    parameters, passed, arguments = split_arguments(source, opening, closing)
    comma = ', ' if arguments.strip() else ''
    source.replace(first, closing + 1,
                   f'::cuda_on_cpu::launch("{name}", {config}, [=]({parameters}) '
                   f'__attribute__((no_sanitize("thread"))) {{ {kernel}({passed}); }}'
                   f'{comma}{arguments})')


def is_in_function(source, i):
    """Whether a declaration stands in a function and not in a namespace or a class."""
    depth = 0
    for j in range(i - 1, -1, -1):
        if source.kinds[j] != 'sign' or source.tokens[j] not in ('{', '}'):
            continue
        depth += 1 if source.tokens[j] == '}' else -1
        if depth < 0:
            return source.tokens[source.previous(j)] in (')', ';', '{', '}', 'else', 'do', 'const',
                                                         'noexcept', 'mutable')
    return False


def declaration_of(source, first, end):
    """Type and name of an array without a size, declared by tokens first..end-1."""
    i, parts = first, []
    while i < end:
        if source.tokens[i] in ('__attribute__', 'alignas', '__declspec'):
            i = source.close_of(source.next(i)) + 1
            continue
        if not source.is_blank(i):
            parts.append(source.tokens[i])
        i += 1
    if len(parts) < 4 or parts[-2:] != ['[', ']']:
        raise Unsure("'extern __shared__' declares something that is not an array without a size")
    return ' '.join(parts[:-3]), parts[-3]


def rewrite_shared(source, i, guards):
    """__shared__ becomes thread-local; an array without a size is the block's dynamic memory.

    Guards behind the variables tell the analysis when an index runs past the end.
    """
    before, after = source.previous(i), source.next(i)
    external = next((j for j in (before, after) if source.tokens[j] == 'extern'), None)
    end = i
    while source.tokens[end] != ';':
        end = source.close_of(end) if source.tokens[end] in OPENERS else source.next(end)
    if external is None:
        is_static = 'static' in (source.tokens[before], source.tokens[after])
        source.replace(i, i + 1, '__thread' if is_static else 'static __thread')
        if guards and is_in_function(source, i):
            source.replace(end, end + 1, f'; static __thread char cuda_on_cpu_guard_{i}[256] '
                                         '__attribute__((used));')
        return
    kind, name = declaration_of(source, source.next(max(i, external)), end)
    first = min(i, external)
    if is_in_function(source, first):
        new = f'{kind}* const {name} = reinterpret_cast<{kind}*>(cuda_on_cpu_dynamic_shared)'
    else:
        new = f'extern __thread {kind} {name}[] __asm__("cuda_on_cpu_dynamic_shared")'
    source.replace(first, end, new)


def read_cluster(source, i, clusters):
    """Takes __cluster_dims__ away and remembers it for the kernel whose declaration follows."""
    opening = source.next(i)
    closing = source.close_of(opening)
    dimensions = source.text(opening + 1, closing)
    j = source.next(closing)
    while not (source.kinds[j] == 'name' and source.tokens[source.next(j)] == '(' and
               source.tokens[j] not in ('__attribute__', 'alignas')):
        if source.tokens[j] in (';', '{'):
            raise Unsure('__cluster_dims__ is not followed by a kernel')
        if source.tokens[j] in OPENERS:
            j = source.close_of(j)
        j = source.next(j)
    clusters[source.tokens[j]] = dimensions
    source.replace(i, closing + 1, '')


def keep_kernel_type(source, i):
    """Drops a cast to void* from the kernel that a function of the runtime takes first."""
    opening = source.next(i)
    if source.tokens[opening] != '(':
        return
    first = source.next(opening)
    if source.tokens[first] == '(':
        closing = source.close_of(first)
        inside = source.text(first + 1, closing).split()
        if sorted(''.join(inside).replace('const', '')) == sorted('void*'):
            source.replace(first, closing + 1, '')
    elif source.tokens[first] == 'reinterpret_cast':
        opening = source.next(first)
        while source.tokens[opening] != '(':
            opening = source.next(opening)
        source.replace(first, opening, '')


def rewrite(text, guards):
    """The plain C++ for a preprocessed CUDA source.

    :param guards: whether variables in shared memory get guards behind them
    :raises SystemExit: with file and line where the source is not understood
    """
    source = Source(text)
    clusters = {}
    for i, token in enumerate(source.tokens):
        try:
            if source.kinds[i] == 'name':
                if token == '__shared__':
                    rewrite_shared(source, i, guards)
                elif token == '__cluster_dims__':
                    read_cluster(source, i, clusters)
                elif token in TAKES_KERNEL:
                    keep_kernel_type(source, i)
                elif token in ('asm', '__asm__', '__asm'):
                    raise Unsure('PTX does not run on the CPU; give the function that wraps it a '
                                 'second body for STAIRCASE_CUDA_ON_CPU')
            elif source.kinds[i] == 'sign' and token == '<<<':
                if source.tokens[source.previous(i)] != 'operator':
                    rewrite_launch(source, i, clusters)
        except Unsure as unsure:
            sys.exit(f'{source.place_of(i)}: error: {unsure}')
    return ''.join(source.tokens)


def main():
    if len(sys.argv) < 5:
        sys.exit(f'usage: {sys.argv[0]} SOURCE.cu OUTPUT.cpp DEPFILE COMPILER [FLAGS...]')
    source, output, depfile, *compiler = sys.argv[1:]
    command = [*compiler, '-E', '-x', 'c++', '-MD', '-MF', depfile, '-MT', output, source]
    preprocessed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if preprocessed.returncode != 0:
        sys.exit(preprocessed.returncode)
    with open(output, 'w', encoding='utf-8') as file:
        file.write(rewrite(preprocessed.stdout, '-DCUDA_ON_CPU_ANALYSE' in compiler))


if __name__ == '__main__':
    main()
