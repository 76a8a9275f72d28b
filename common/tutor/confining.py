"""Confines the commands that build and run somebody else's program. Confined commands have no network and no write access to
other files. Limits apply to their memory, time, file size and number of processes.
The tool bubblewrap provides all of this. Without it, namespaces of the Linux kernel still separate the network and the
processes. If these are not available either, only the resource limits remain. `kind_here` finds the best of these three
kinds that works on this machine. """

import dataclasses
import os
import pathlib
import resource
import shutil
import subprocess

NOBODY = 65534  # user ID for the commands if root runs the grading
PROCESSES = 512  # limit of processes and threads, in addition to those that the user already runs
MIB = 1 << 20

# By kind: a sentence about the missing protection. The first kind needs no sentence.
SENTENCES = {
    "bubblewrap": "",
    "namespaces": "bubblewrap is not available here, so submissions run without network and with limits, but they can read and write "
                  "the files of {user}; install the package bubblewrap to prevent this",
    "limits": "neither bubblewrap nor namespaces are available here, so submissions run with limits of memory, time and file size only: "
              "they can use the network and the files of {user}; install the package bubblewrap to prevent this"}


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of one submission."""

    seconds: int = 120  # processor time, so that the load of the machine does not affect the verdict
    memory: int = 4096  # MiB
    files: int = 256  # MiB: the largest size of one file


@dataclasses.dataclass(frozen=True)
class Confinement:
    """Confines commands to a directory, if the words of a command name this directory."""

    kind: str
    directory: pathlib.Path
    limits: Limits

    def names(self, word):
        """Whether a word of a command contains the path of the directory."""
        return str(self.directory) in str(word)

    def around(self, command):
        """The command with a prefix that confines it."""
        give_to_nobody(self.directory)
        return [*as_nobody(), *SHELLS[self.kind](self), *self.limited(), *map(str, command)]

    def limited(self):
        """The words that limit the resources of each process."""
        user = NOBODY if os.getuid() == 0 else os.getuid()
        wanted = {"data": self.limits.memory * MIB, "fsize": self.limits.files * MIB, "cpu": self.limits.seconds, "core": 0,
                  "nproc": PROCESSES + threads_of(user)}
        return ["prlimit", *(f"--{name}={no_higher(name, value)}" for name, value in wanted.items()), "--"]


def with_bubblewrap(confinement):
    """The words that run a command in a sandbox, in which all files outside of the directory are read-only."""
    size = str(confinement.limits.files * MIB)  # limit of shared memory in bytes
    return ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
            "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
            "--bind", str(confinement.directory), str(confinement.directory), "--"]


def with_namespaces(_):
    """The words that run a command without network access, and that end all its processes when the command ends."""
    return ["unshare", "--user", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]


SHELLS = {"bubblewrap": with_bubblewrap, "namespaces": with_namespaces, "limits": lambda _: []}


def no_higher(name, value):
    """A resource limit, or the present limit of this process if that is lower."""
    _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def as_nobody():
    """The words that run a command as an unprivileged user if the current user is root; no words for other users."""
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--"] if os.getuid() == 0 else []


def give_to_nobody(directory):
    """Gives all files in a directory to the unprivileged user if the current user is root."""
    if os.getuid() != 0:
        return
    for place, directories, files in os.walk(directory):
        for path in [place, *(os.path.join(place, name) for name in directories + files)]:
            try:
                if os.lstat(path).st_uid == 0:
                    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
            except FileNotFoundError:
                pass  # a temporary file of a compiler that runs at the same time has disappeared


def threads_of(user):
    """The number of threads that a user currently runs, which count towards the limit of processes."""
    count = 0
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text(errors="replace").splitlines() if ":" in line)
        except OSError:
            continue
        count += int(fields["Threads"]) if int(fields["Uid"].split()[0]) == user else 0
    return count


def works(confinement, command=("true",)):
    """Whether a command succeeds when it is confined."""
    try:
        return subprocess.run(confinement.around(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False, timeout=20).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def kind_here(directory, limits):
    """The best kind of confinement that works on this machine for a directory; None if no kind works."""
    for kind in SHELLS:
        program = {"bubblewrap": "bwrap", "namespaces": "unshare"}.get(kind, "prlimit")
        if shutil.which(program) and works(Confinement(kind, directory, limits), ["test", "-w", directory]):
            return kind
    return None


def sentence(kind):
    """A sentence for the teacher about a kind of confinement; empty if the protection is complete."""
    return SENTENCES[kind].format(user="the user nobody" if os.getuid() == 0 else "the user who starts the command")


CURRENT = []  # the confinement of this process; empty if there is none


def confined(command):
    """The form in which a command must be run. The command is confined if it names the directory of this process's
    confinement, and otherwise unchanged."""
    if CURRENT and any(CURRENT[0].names(word) for word in command):
        return CURRENT[0].around(command)
    return command
