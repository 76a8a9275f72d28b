"""Checks whether the CUDA toolkit of this machine can build programs for given GPUs, and reports what is missing.

    python3 common/cuda_toolkit.py --found 86           for the GPUs of this machine, which have capability 8.6
    python3 common/cuda_toolkit.py --asked 90a,120      for architectures that the user requests
    python3 common/cuda_toolkit.py --portable 75        for portable code that the user requests
    python3 common/cuda_toolkit.py --host-compiler      prints a g++ that nvcc accepts, if it does not accept its default one

The first line of the output lists the architectures that can be built. The second line contains a sentence about the other
architectures. The exit status is 1 if the user requests an architecture that this nvcc cannot build. The exit status is 0 if
there is no nvcc, so that one command configures machines with and without nvcc. As in Meson, the environment variable
CUDACXX selects another nvcc, optionally with arguments.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys

LEAST = (12, 0)

# For each architecture, the first toolkit that supports it, and also the last such toolkit if CUDA 13 no longer supports it.
FIRST = {'75': (10, 0), '80': (11, 0), '86': (11, 1), '87': (11, 4), '88': (13, 0), '89': (11, 8), '90': (11, 8),
         '100': (12, 8), '101': (12, 8), '103': (12, 9), '107': (13, 5), '110': (13, 0), '120': (12, 8),
         '121': (12, 9)}
LAST = {'50': (12, 9), '52': (12, 9), '53': (12, 9), '60': (12, 9), '61': (12, 9), '62': (12, 9), '70': (12, 9),
        '72': (12, 9), '101': (12, 9)}


def dotted(version):
    return '.'.join(map(str, version))


def without_letter(arch):
    return arch.rstrip('af')


def command():
    return shlex.split(os.environ.get('CUDACXX') or 'nvcc')


def output_of(*arguments):
    """The output of nvcc; empty if nvcc fails or is missing."""
    try:
        done = subprocess.run([*command(), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError:
        return ''
    return done.stdout if done.returncode == 0 else ''


def version():
    """The version of the toolkit as a pair such as (12, 4); None without nvcc."""
    found = re.search(r'release (\d+)\.(\d+)', output_of('--version'))
    return found and (int(found[1]), int(found[2]))


def known_architectures():
    return {line.removeprefix('sm_') for line in output_of('--list-gpu-code').split() if line.startswith('sm_')}


def complaint_of_host_compiler(*options):
    """The error of nvcc about its host compiler; empty if nvcc accepts the host compiler."""
    done = subprocess.run([*command(), *options, '-std=c++20', '-x', 'cu', '-E', '-o', os.devnull, os.devnull],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return ''
    lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    for line in lines:
        if '#error' in line:
            return line.split('--')[-1].split('! The nvcc flag')[0].strip(' -')
    return lines[0] if lines else 'nvcc cannot preprocess an empty file'


def host_compiler():
    """The newest g++ of this machine that nvcc accepts as its host compiler; empty if there is none."""
    for number in range(20, 8, -1):
        path = shutil.which(f'g++-{number}')
        if path and not complaint_of_host_compiler('-ccbin', path):
            return path
    return ''


def missing(arch, toolkit):
    """A sentence about an architecture that this toolkit does not support; it names the toolkits that do."""
    base, sentence = without_letter(arch), f'CUDA {dotted(toolkit)} does not support architecture {arch}'
    if base in LAST and toolkit > LAST[base]:
        return f'{sentence}; the last version that does is CUDA {dotted(LAST[base])}'
    if base in FIRST:
        return f'{sentence}, which needs CUDA {dotted(FIRST[base])} or later'
    return f'{sentence}; it supports {", ".join(sorted(known_architectures(), key=int))}'


def judge(architectures):
    """The architectures that can be built, a sentence about the others, and whether there is an nvcc."""
    names = ', '.join(architectures)
    toolkit = version()
    if not toolkit:
        return [], (f'programs for architecture {names} need nvcc, and {command()[0]} cannot be run; put that of CUDA '
                    f'{dotted(LEAST)} or later on the PATH'), False
    if toolkit < LEAST:
        return [], (f'programs for architecture {names} need CUDA {dotted(LEAST)} or later, and {command()[0]} is of '
                    f'CUDA {dotted(toolkit)}'), True
    known = known_architectures()
    unknown = [arch for arch in architectures if without_letter(arch) not in known]
    if complaint := complaint_of_host_compiler():
        other = host_compiler()
        remedy = (f"configure with CUDACXX='{shlex.join(command())} -ccbin {other}'" if other else
                  'install a g++ that it accepts')
        return [], (f'nvcc of CUDA {dotted(toolkit)} does not accept the compiler of this machine ({complaint}); '
                    f'{remedy}'), True
    return ([arch for arch in architectures if arch not in unknown],
            '; '.join(missing(arch, toolkit) for arch in unknown), True)


def main(arguments):
    if arguments == ['--host-compiler']:
        if version() and complaint_of_host_compiler():
            print(host_compiler())
        return 0
    if len(arguments) != 2 or arguments[0] not in ('--found', '--asked', '--portable'):
        print(__doc__, file=sys.stderr)
        return 2
    usable, sentence, there = judge(arguments[1].split(','))
    print(' '.join(usable))
    print(sentence)
    return 1 if sentence and there and arguments[0] != '--found' else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
