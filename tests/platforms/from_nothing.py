#!/usr/bin/env python3
"""Runs commands of this checkout in a Debian system on which nothing is installed.

The script makes a bare root with debootstrap: the base system, ca-certificates and git, and no other package. It copies the
checkout into the root, runs each command there, and prints a table at the end. If the commands need a package that they do
not install, they therefore fail here, although the package may be present on every machine of a developer.
"""

import argparse
import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import textwrap
import time

PROGRAM = "from_nothing"
SUITES = ("bookworm", "trixie")
PACKAGES = ("ca-certificates", "git")
CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
USER, NUMBER_OF_USER = "student", 1000
# Meson, CTest and Automake treat this exit status as "skipped".
UNAVAILABLE = 77
NAMESPACES = ("unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--propagation", "private")

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# Files in which distributions store the certificates of all authorities.
BUNDLES = (CERTIFICATES, "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem")
# Variables with the path of such a file. In the root, they contain the path of the root's own file.
NAMES_OF_BUNDLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO")
OF_PIP = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_PROXY", "PIP_RETRIES", "PIP_DEFAULT_TIMEOUT",
          "PIP_DISABLE_PIP_VERSION_CHECK")
PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
# apt's options for the connection to a mirror. All other options remain those of a new system.
OF_THE_NETWORK = re.compile(
    r'^Acquire::[\w:.+-]*(?:Proxy|Verify-Peer|Verify-Host|CaInfo|Retries|Timeout|Check-Valid-Until|Check-Date|ForceIPv\d) ".+";$')
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


class Unavailable(Exception):
    """This machine lacks something that the script needs."""


class Failure(Exception):
    """A step of the script failed."""


class Interrupted(BaseException):
    """A signal asks the script to end."""


def say(text):
    """Prints a line about the script's own progress."""
    print(f"{PROGRAM}: {text}", flush=True)


# --- The command line


def package_list(text):
    """The packages that --include names."""
    packages = text.split(",")
    for package in packages:
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", package):
            raise argparse.ArgumentTypeError(f"'{package}' is not the name of a Debian package")
    return packages


def empty_directory(text):
    """The directory that --keep names, which does not exist or is empty."""
    path = pathlib.Path(text).absolute()
    if path.is_dir() and any(path.iterdir()):
        raise argparse.ArgumentTypeError(f"'{text}' is not empty; name a new directory")
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"'{text}' is a file; name a new directory")
    return path


def commands_of(arguments):
    """The arguments before the first --, and a list of the commands, each of which follows a --."""
    groups = [[]]
    for argument in arguments:
        if argument == "--":
            groups.append([])
        else:
            groups[-1].append(argument)
    return groups[0], groups[1:]


def default_cache():
    """The cache directory of a run that does not name one."""
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home, "staircase", "platforms")


def suite_by_parity(checkout=CHECKOUT):
    """Debian 12 for an even number of commits, and Debian 13 for an odd number."""
    with trusting_git() as environment:
        count = subprocess.run(["git", "-C", checkout, "rev-list", "--count", "HEAD"], env=environment, text=True,
                               capture_output=True, check=False)
    if count.returncode != 0:
        raise Failure(f"--alternate counts the commits of {checkout}, which is not a git checkout; use --suite instead")
    return SUITES[int(count.stdout) % 2]


def parse(arguments):
    """The options of the command line, with the commands as the list `commands`."""
    parser = argparse.ArgumentParser(
        prog=f"{PROGRAM}.py", allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [OPTION ...] -- COMMAND [ARGUMENT ...] [-- COMMAND [ARGUMENT ...] ...]",
        epilog="""Each command runs in the folder of the checkout, exactly as it stands and without a shell.

Exit status: 0 if every command succeeded, 1 if one failed, 2 for a wrong command line, 77 with one sentence if debootstrap,
root rights or a package registry is missing. If a command ends with the line "N passed, N failed, N skipped", the last line
of the output is the sum of all these lines.

Examples, as root:
  tests/platforms/from_nothing.py --alternate -- ./climb -- ./climb test --quick
  tests/platforms/from_nothing.py --suite bookworm --user --include sudo -- ./climb --yes ata""")
    suite = parser.add_mutually_exclusive_group()
    suite.add_argument("--suite", choices=SUITES, help="Debian 12 (bookworm) or Debian 13 (trixie, the default)")
    suite.add_argument("--alternate", action="store_true",
                       help="choose bookworm if the number of commits of HEAD is even, and trixie if it is odd")
    parser.add_argument("--user", action="store_true",
                        help=f"run the commands as the unprivileged user '{USER}', who may use sudo without a password if "
                             "--include names sudo; otherwise root runs them")
    parser.add_argument("--include", type=package_list, metavar="PACKAGE,...", default=[],
                        help="packages that are installed besides those of the bare root")
    parser.add_argument("--prepare", action="append", metavar="LINE", default=[],
                        help="a line of shell that root runs before the commands, as an administrator would; may be repeated")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR", default=default_cache(),
                        help="folder that keeps downloaded packages and compiled objects between runs "
                             "(default: %(default)s)")
    parser.add_argument("--keep", type=empty_directory, metavar="DIR", help="make the root in this folder and leave it there")
    own, commands = commands_of(arguments)
    options = parser.parse_args(own)
    if not commands:
        parser.error("which command is to run? It follows --, as in: -- ./climb")
    if not all(commands):
        parser.error("a -- is followed by no command")
    options.commands = commands
    options.cache = options.cache.absolute()
    for path in (options.cache, options.keep):
        if path is not None and re.search(r"[^\w/.,=+@~-]", str(path)):
            parser.error(f"debootstrap needs paths without spaces and special characters, not '{path}'")
    return options


# --- The configuration of this machine


@dataclasses.dataclass(frozen=True)
class Source:
    """An entry of apt's sources."""
    uri: str
    suite: str
    components: tuple


def sources(folder=pathlib.Path("/etc/apt")):
    """All entries for binary packages in apt's two formats."""
    for file in [folder / "sources.list", *sorted(folder.glob("sources.list.d/*.list"))]:
        for line in file.read_text().splitlines() if file.is_file() else []:
            entry = re.match(r"\s*deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+([^#]+)", line)
            if entry:
                yield Source(entry[1], entry[2], tuple(entry[3].split()))
    for file in sorted(folder.glob("sources.list.d/*.sources")):
        text = re.sub(r"^#.*\n?", "", file.read_text(), flags=re.MULTILINE)
        for stanza in re.split(r"\n\s*\n", text):
            fields = {name.lower(): value.split() for name, value in
                      re.findall(r"^([\w-]+):((?:.*\n?)(?:[ \t]+\S.*\n?)*)", stanza, flags=re.MULTILINE)}
            if "deb" in fields.get("types", []) and fields.get("enabled", ["yes"]) != ["no"]:
                for uri in fields.get("uris", []):
                    for suite in fields.get("suites", []):
                        yield Source(uri, suite, tuple(fields.get("components", [])))


def codename(release=pathlib.Path("/etc/os-release")):
    """The codename of this machine's Debian, or None on another system."""
    try:
        fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', release.read_text(), flags=re.MULTILINE))
    except OSError:
        return None
    return fields.get("VERSION_CODENAME") if fields.get("ID") == "debian" else None


def sources_of_root(suite, entries, own):
    """The mirror that this machine, a Debian with the codename `own`, uses, and the text of sources.list for
    a root of another suite; (None, None) if the machine's configuration contains no mirror of Debian."""
    found = {}
    for entry in entries:
        for kind in ("", "-updates", "-security"):
            if own and entry.suite == own + kind and "main" in entry.components and re.match("https?://", entry.uri):
                found.setdefault(kind, entry.uri)
    if "" not in found:
        return None, None
    return found[""], "".join(f"deb {uri} {suite}{kind} main\n" for kind, uri in found.items())


def options_of_apt(dump):
    """The lines of `apt-config dump` about the connection to a mirror: proxies, certificates, retries, time limits."""
    return "".join(f"{line}\n" for line in dump.splitlines() if OF_THE_NETWORK.match(line))


def certificates(text):
    """The certificates in a text that may contain several."""
    return re.findall(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----", text)


def bundle():
    """The file in which this machine keeps the certificates of all authorities that it trusts, or None."""
    named = [os.environ.get(name) for name in NAMES_OF_BUNDLES]
    for path in [*filter(None, named), *BUNDLES, ssl.get_default_verify_paths().cafile]:
        if path and pathlib.Path(path).is_file():
            return pathlib.Path(path)
    return None


def handed_over(environment):
    """The variables of this machine's environment that commands in a root also get."""
    result = {}
    for name, value in environment.items():
        if name in NAMES_OF_BUNDLES:
            result[name] = CERTIFICATES
        elif name.lower() in PROXIES or name in OF_PIP or name.startswith("STAIRCASE_") or name in ("TERM", "TZ"):
            result[name] = value
    return result


# --- The copy of the checkout


@contextlib.contextmanager
def trusting_git():
    """An environment in which git reads checkouts of other users and ignores the user's settings."""
    with tempfile.NamedTemporaryFile("w", suffix=".gitconfig") as settings:
        settings.write("[safe]\n\tdirectory = *\n[advice]\n\tdetachedHead = false\n")
        settings.flush()
        yield os.environ | {"GIT_CONFIG_GLOBAL": settings.name, "GIT_CONFIG_NOSYSTEM": "1"}


def copy_checkout(source, destination):
    """Clones the last commit of a checkout and repeats uncommitted changes to tracked files in the clone. Build folders and
    all other untracked files are not copied."""
    def git(folder, *arguments, **options):
        ran = subprocess.run(["git", "-C", folder, *arguments], env=environment, capture_output=True, check=False, **options)
        if ran.returncode != 0:
            raise Failure(f"'git {arguments[0]}' failed in {folder}: {ran.stderr.decode(errors='replace').strip()}")
        return ran.stdout

    with trusting_git() as environment:
        git(source, "clone", "--quiet", "--no-hardlinks", source, destination)
        changes = git(source, "-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "diff", "--binary", "--full-index",
                      "--no-color", "--no-ext-diff", "--no-textconv", "HEAD")
        if changes:
            git(destination, "apply", "--whitespace=nowarn", "-", input=changes)


# --- The outer process: it creates the namespaces and cleans up


def check_machine():
    """Raises Unavailable with one sentence for the first thing that is missing."""
    if not sys.platform.startswith("linux"):
        raise Unavailable("bare roots need Linux; this is another system")
    if os.geteuid() != 0:
        raise Unavailable("making a bare root needs root rights; run the script with sudo")
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    for tool, package in (("debootstrap", "debootstrap"), ("git", "git"), ("unshare", "util-linux"),
                          ("pivot_root", "util-linux"), ("mount", "mount")):
        if shutil.which(tool) is None:
            raise Unavailable(f"the program {tool} is missing; install the package {package}")
    probe = subprocess.run([*NAMESPACES, "mount", "-t", "proc", "proc", "/proc"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        reason = " ".join(probe.stderr.split()) or f"exit status {probe.returncode}"
        raise Unavailable(f"a mount namespace is not allowed here ({reason}); a container needs --privileged")


def remove(root):
    """Deletes a root. All mounts below it belong to namespaces that have ended. If a mount remains nevertheless, its
    contents are not deleted."""
    if root.exists():
        subprocess.run(["rm", "-rf", "--one-file-system", "--", root], check=False)


@contextlib.contextmanager
def signals_interrupt():
    """Makes the usual signals raise Interrupted."""
    def interrupt(number, _):
        for other in before:
            signal.signal(other, signal.SIG_IGN)  # until the root is removed
        raise Interrupted(number)

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def locked(path):
    """Locks a file; waits if another run has locked it."""
    with open(path, "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another run that uses the same cache ...")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run_contained(options):
    """Runs the inner process in its own namespaces; returns its exit status. The standard input of that process is a
    pipe without data. The end of the pipe signals that this process was interrupted or killed."""
    with subprocess.Popen([*NAMESPACES, sys.executable, __file__, "--inside", json.dumps(vars(options), default=str)],
                          stdin=subprocess.PIPE, start_new_session=True) as process:
        try:
            return process.wait()
        finally:
            process.stdin.close()
            process.wait()


def outer(options):
    """Creates a root, runs the commands in it and deletes it; returns the exit status."""
    check_machine()
    options.suite = suite_by_parity() if options.alternate else options.suite or "trixie"
    packages = options.cache / "packages" / options.suite
    for folder in (packages / "partial", options.cache / "ccache", options.cache / "roots"):
        folder.mkdir(parents=True, exist_ok=True)
    # Runs of root and of the unprivileged user share the compiler cache.
    subprocess.run(["chmod", "-R", "a+rwX", options.cache / "ccache"], check=False)
    options.root = root = options.keep or options.cache / "roots" / options.suite
    with signals_interrupt(), locked(options.cache / "packages" / f"{options.suite}.lock"):
        try:
            if not options.keep:
                remove(root)  # the root of a run that was killed
            root.mkdir(parents=True, exist_ok=True)
            return run_contained(options)
        finally:
            if not options.keep:
                remove(root)


# --- The inner process: it is the first of its process namespace


def init(options):
    """Starts the worker as a child, reaps ended processes as init does, and ends with the worker or when the outer
    process has closed the pipe. When this process ends, the kernel ends all other processes of the namespace."""
    os.umask(0o022)
    worker = os.fork()
    if worker == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        status = guarded(lambda: work(options))
        sys.stdout.flush()
        os._exit(status)
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    while True:
        with contextlib.suppress(ChildProcessError):
            while True:
                child, status = os.waitpid(-1, os.WNOHANG)
                if child == worker:
                    return os.waitstatus_to_exitcode(status) % 256
                if child == 0:
                    break
        ready, _, _ = select.select([0, ended], [], [])
        if ended in ready:
            os.read(ended, 4096)
        if 0 in ready:
            return 130


def quietly(what, *command, **options):
    """Runs a step and shows the end of its output only if it fails."""
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         errors="replace", check=False, **options)
    if ran.returncode != 0:
        raise Failure("\n".join([f"{what} failed:", *ran.stdout.splitlines()[-20:]]))
    return ran.stdout


def in_root(root, *command):
    """Runs a step in the root from outside, before this process enters the root."""
    environment = handed_over(os.environ) | {"PATH": PATH, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
    return quietly(f"'{shlex.join(command)}'", "chroot", root, *command, env=environment)


def make_root(options, root, mirror):
    """Installs the base system in the folder."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for scheme in ("http", "https"):  # debootstrap downloads with wget, which does not read apt's proxy
        proxy = re.search(rf'^Acquire::{scheme}::Proxy "(.+)";$', apt_configuration(), flags=re.MULTILINE)
        if proxy:
            environment.setdefault(f"{scheme}_proxy", proxy[1])
    try:
        quietly("debootstrap", "debootstrap", "--variant=minbase", "--force-check-gpg",
                f"--include={','.join([*PACKAGES, *options.include])}",
                f"--cache-dir={options.cache / 'packages' / options.suite}",
                options.suite, root, *([mirror] if mirror else []), env=environment)
    except Failure as failure:
        last = re.findall("^E: (.*)", str(failure), flags=re.MULTILINE)
        if last and re.match("Failed getting release|Couldn't download|Keyring-based check", last[-1]):
            raise Unavailable(f"debootstrap gets no packages of {options.suite}: {last[-1].strip()}") from None
        raise


def apt_configuration():
    """The options of this machine's apt; empty on a machine without apt."""
    if shutil.which("apt-config") is None:
        return ""
    return options_of_apt(subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False).stdout)


def copy_if_there(source, destination):
    """Copies a file if it exists."""
    source = pathlib.Path(source).expanduser()
    if source.is_file():
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, destination)


def configure_root(root, text_of_sources):
    """Copies the settings that the root needs to reach its registries: names, mirrors, options of apt and pip,
    certificates."""
    copy_if_there("/etc/resolv.conf", root / "etc/resolv.conf")
    copy_if_there("/etc/hosts", root / "etc/hosts")
    with open(root / "etc/hosts", "a", encoding="utf-8") as hosts:
        hosts.write(f"127.0.0.1 localhost {os.uname().nodename}\n")
    if text_of_sources:
        (root / "etc/apt/sources.list").write_text(text_of_sources)
    # The root is temporary, so dpkg need not wait for the disk, as in container images.
    (root / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n")
    options = apt_configuration()
    (root / "etc/apt/apt.conf.d/90of-the-host").write_text(options)
    for path in set(re.findall(r'::CaInfo "(.+)";', options)):
        copy_if_there(path, root / path.lstrip("/"))
    copy_if_there("/etc/pip.conf", root / "etc/pip.conf")
    for path in ("~/.pip/pip.conf", "~/.config/pip/pip.conf"):
        copy_if_there(path, root / "etc/xdg/pip/pip.conf")
    if bundle() is not None:
        known = set(certificates((root / CERTIFICATES.lstrip("/")).read_text()))
        added = [one for one in certificates(bundle().read_text()) if one not in known]
        for number, certificate in enumerate(added):
            (root / f"usr/local/share/ca-certificates/of-the-host-{number}.crt").write_text(f"{certificate}\n")
        if added:
            in_root(root, "update-ca-certificates")


def mount(kind, target, options=""):
    """Mounts a file system of a kind on a folder, which is created if it is missing."""
    target.mkdir(parents=True, exist_ok=True)
    quietly(f"mounting {target}", "mount", "-t", kind, *(["-o", options] if options else []), kind, target)


def bind(source, target):
    """Shows a file or folder of this machine in the root."""
    quietly(f"mounting {target}", "mount", "--bind", source, target)


def mount_all(options, root):
    """Mounts the file systems of a container, the package archive and the compiler cache."""
    bind(root, root)  # pivot_root requires a mount point
    mount("proc", root / "proc", "nosuid,nodev,noexec")
    mount("sysfs", root / "sys", "ro,nosuid,nodev,noexec")
    mount("tmpfs", root / "dev", "nosuid,mode=755,size=1m")
    for device in ("null", "zero", "full", "random", "urandom", "tty"):
        (root / "dev" / device).touch()
        bind(f"/dev/{device}", root / "dev" / device)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"),
                         ("stderr", "/proc/self/fd/2"), ("ptmx", "pts/ptmx")):
        (root / "dev" / name).symlink_to(target)
    mount("devpts", root / "dev/pts", "newinstance,ptmxmode=0666,mode=620,gid=5")
    mount("tmpfs", root / "dev/shm", "nosuid,nodev,mode=1777")
    (root / "var/cache/ccache").mkdir(parents=True, exist_ok=True)
    bind(options.cache / "ccache", root / "var/cache/ccache")
    bind(options.cache / "packages" / options.suite, root / "var/cache/apt/archives")


def enter(root):
    """Makes the root the file system of this process and of its children, and unmounts the file systems of this machine."""
    os.chdir(root)
    quietly("pivot_root", "pivot_root", ".", "mnt")
    os.chdir("/")
    quietly("unmounting the host", "umount", "--lazy", "/mnt", env={"PATH": PATH})


def home_of(options):
    """The home directory of the user who runs the commands, as a path in the root."""
    return pathlib.Path("/home", USER) if options.user else pathlib.Path("/root")


def environment_of(options, checkout):
    """The environment of a command: the environment of a new system, copied variables, and a compiler cache that does
    not depend on the folder of the checkout."""
    return handed_over(os.environ) | {
        "PATH": PATH, "HOME": str(home_of(options)), "SHELL": "/bin/bash", "USER": USER if options.user else "root",
        "LOGNAME": USER if options.user else "root", "CCACHE_DIR": "/var/cache/ccache", "CCACHE_UMASK": "000",
        "CCACHE_BASEDIR": str(checkout), "CCACHE_NOHASHDIR": "1",
        "CCACHE_MAXSIZE": os.environ.get("CCACHE_MAXSIZE", "10G")}


def run_command(command, **options):
    """Runs a command and prints its output immediately; returns the exit status and the last line of the output."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options) as process:
        tail = b""
        while True:
            # A process that the command leaves behind may keep the pipe open; the script does not wait for it.
            ready, _, _ = select.select([process.stdout], [], [], 1)
            output = os.read(process.stdout.fileno(), 65536) if ready else b""
            if not output and (ready or process.poll() is not None):
                break
            sys.stdout.buffer.write(output)
            sys.stdout.buffer.flush()
            tail = (tail + output)[-4096:]
        lines = tail.decode(errors="replace").rstrip().splitlines()
        return process.wait(), lines[-1] if lines else ""


def in_words(seconds):
    """A duration in minutes and seconds."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def outcome(status, counts):
    """The outcome of a command for the table."""
    said = f"{counts[0]} passed, {counts[1]} failed, {counts[2]} skipped" if counts else ""
    if status == 0:
        return said or "passed"
    reason = f"signal {-status}" if status < 0 else f"exit status {status}"
    return f"{said}, {reason}" if said else f"failed, {reason}"


def table(rows):
    """Lines of a table with columns as wide as necessary; a long command is shortened."""
    rows = [("suite", "command", "outcome", "time"),
            *((suite, textwrap.shorten(command, 60, placeholder=" ..."), said, took) for suite, command, said, took in rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]:{widths[2]}}  {row[3]:>{widths[3]}}" for row in rows]


def work(options):
    """Creates the root, runs the commands and prints the table; returns the exit status."""
    root, began = options.root, time.monotonic()
    mirror, text_of_sources = sources_of_root(options.suite, sources(), codename())
    say(f"making a bare root of {options.suite} in {root} ...")
    make_root(options, root, mirror)
    configure_root(root, text_of_sources)
    if options.user:
        in_root(root, "useradd", "--uid", str(NUMBER_OF_USER), "--user-group", "--create-home", "--shell", "/bin/bash", USER)
        if "sudo" in options.include:
            (root / "etc/sudoers.d" / USER).write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n")
    checkout = home_of(options) / "staircase"
    copy_checkout(CHECKOUT, root / str(checkout).lstrip("/"))
    if options.user:
        in_root(root, "chown", "-R", f"{USER}:{USER}", str(home_of(options)))
    mount_all(options, root)
    enter(root)
    rows = [(options.suite, "(bare root)", "made", in_words(time.monotonic() - began))]

    environment, totals, bad = environment_of(options, checkout), None, False
    identity = {"user": NUMBER_OF_USER, "group": NUMBER_OF_USER, "extra_groups": []} if options.user else {}
    as_root = environment | {"HOME": "/root", "USER": "root", "LOGNAME": "root"}
    for command, how in [*((["/bin/sh", "-c", line], {"env": as_root}) for line in options.prepare),
                         *((command, {"env": environment, **identity}) for command in options.commands)]:
        shown = command[-1] if command[:2] == ["/bin/sh", "-c"] else shlex.join(command)
        say(f"{options.suite}: {shown}")
        began = time.monotonic()
        try:
            status, last = run_command(command, cwd=checkout, **how)
        except OSError as error:
            status, last = 127, ""
            print(f"{command[0]}: {error.strerror}", flush=True)
        counts = COUNTS.match(last)
        if counts:
            totals = [a + int(b) for a, b in zip(totals or (0, 0, 0), counts.groups())]
        bad = bad or status != 0
        rows.append((options.suite, shown, outcome(status, counts and counts.groups()), in_words(time.monotonic() - began)))
    if not bad:
        # Superseded packages are removed, so that the archive keeps the size of one set of packages.
        subprocess.run(["apt-get", "-qq", "autoclean"], env={"PATH": PATH}, capture_output=True, check=False)
    print("", *table(rows), sep="\n")
    if options.keep:
        print(f"The root is kept in {root}; 'chroot {root}' enters it.")
    if totals:
        print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return int(bad)


def guarded(action):
    """The exit status of an action; each kind of failure prints one message."""
    try:
        return action()
    except Unavailable as reason:
        print(f"{PROGRAM}: {reason}", file=sys.stderr)
        return UNAVAILABLE
    except (Failure, OSError) as failure:
        print(f"{PROGRAM}: {failure}", file=sys.stderr)
        return 1
    except Interrupted as interrupted:
        print(f"{PROGRAM}: interrupted; the root and its mounts are removed", file=sys.stderr)
        return 128 + interrupted.args[0]


def main(arguments):
    """Runs the script; returns its exit status."""
    if arguments[:1] == ["--inside"]:
        options = argparse.Namespace(**json.loads(arguments[1]))
        options.cache, options.root = pathlib.Path(options.cache), pathlib.Path(options.root)
        return init(options)
    options = parse(arguments)
    return guarded(lambda: outer(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
