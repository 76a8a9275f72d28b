"""Confines the commands that build and run a program of somebody else: without network, without write access to other files, and
with limits of memory, time, file size and processes.

bubblewrap does this completely. Without it, namespaces of the kernel still separate the network and the processes; without these, only the
limits of resources remain. `kind_here` finds the best of the three that works on this machine.
"""

import dataclasses
import os
import pathlib
import resource
import shutil
import subprocess

NOBODY = 65534  # the user that runs the commands if the user root starts them
PROCESSES = 512  # processes and threads, in addition to those that the user already runs
MIB = 1 << 20

# By kind, the sentence about it. The first kind needs none.
SENTENCES = {
    "bubblewrap": "",
    "namespaces": "bubblewrap is not available here, so submissions run without network and with limits, but they can read and write "
                  "the files of {user}; install the package bubblewrap to prevent this",
    "limits": "neither bubblewrap nor namespaces are available here, so submissions run with limits of memory, time and file size only: "
              "they can use the network and the files of {user}; install the package bubblewrap to prevent this"}


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of one submission."""

    seconds: int = 120  # of processor time, so that the load of the machine does not change a verdict
    memory: int = 4096  # MiB
    files: int = 256  # MiB: the size of one file; all files together may be four times as large


@dataclasses.dataclass(frozen=True)
class Confinement:
    """How commands that name a directory are confined to it."""

    kind: str
    directory: pathlib.Path
    limits: Limits

    def names(self, word):
        """Whether a word of a command names the directory."""
        return str(self.directory) in str(word)

    def around(self, command):
        """The command with everything that confines it."""
        give_to_nobody(self.directory)
        return [*as_nobody(), *SHELLS[self.kind](self), *self.limited(), *map(str, command)]

    def limited(self):
        """The words that limit the resources of each process."""
        user = NOBODY if os.getuid() == 0 else os.getuid()
        wanted = {"data": self.limits.memory * MIB, "fsize": self.limits.files * MIB, "cpu": self.limits.seconds, "core": 0,
                  "nproc": PROCESSES + threads_of(user)}
        return ["prlimit", *(f"--{name}={no_higher(name, value)}" for name, value in wanted.items()), "--"]


def with_bubblewrap(confinement):
    """The words that run a command in a sandbox: all files outside the directory are
    read-only."""
    size = str(confinement.limits.files * MIB)  # of shared memory
    return ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
            "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
            "--bind", str(confinement.directory), str(confinement.directory), "--"]


def with_namespaces(_):
    """The words that run a command without network, and end all its processes when it ends."""
    return ["unshare", "--user", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]


SHELLS = {"bubblewrap": with_bubblewrap, "namespaces": with_namespaces, "limits": lambda _: []}


def no_higher(name, value):
    """A limit of a resource, or the one that this process already has if that is lower."""
    _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def as_nobody():
    """The words that make the user root an unprivileged user; none for other users."""
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--"] if os.getuid() == 0 else []


def give_to_nobody(directory):
    """Makes all files that the user root has created in a directory files of the unprivileged user."""
    if os.getuid() != 0:
        return
    for place, directories, files in os.walk(directory):
        for path in [place, *(os.path.join(place, name) for name in directories + files)]:
            try:
                if os.lstat(path).st_uid == 0:
                    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
            except FileNotFoundError:
                pass  # a temporary file of a compiler that runs at the same time


def threads_of(user):
    """How many threads a user has at the moment; the limit of processes counts these, too."""
    count = 0
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text(errors="replace").splitlines() if ":" in line)
        except OSError:
            continue
        count += int(fields["Threads"]) if int(fields["Uid"].split()[0]) == user else 0
    return count


def works(confinement, command=("true",)):
    """Whether a command succeeds under a confinement."""
    try:
        return subprocess.run(confinement.around(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False, timeout=20).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def kind_here(directory, limits):
    """The best kind of confinement that works on this machine for a directory; None if no kind works there."""
    for kind in SHELLS:
        program = {"bubblewrap": "bwrap", "namespaces": "unshare"}.get(kind, "prlimit")
        if shutil.which(program) and works(Confinement(kind, directory, limits), ["test", "-w", directory]):
            return kind
    return None


def sentence(kind):
    """The sentence for the teacher about a kind of confinement; empty if nothing is missing."""
    return SENTENCES[kind].format(user="the user nobody" if os.getuid() == 0 else "the user who starts the command")


CURRENT = []  # the confinement of this process, if there is one


def confined(command):
    """A command as it has to be run: confined if it names the directory of this process's confinement, unchanged otherwise."""
    if CURRENT and any(CURRENT[0].names(word) for word in command):
        return CURRENT[0].around(command)
    return command
