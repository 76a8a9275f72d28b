"""Proves that a wheel of the Python package works in a bare system: wheel.py ROOT WHEEL

ROOT is a directory made by debootstrap; of the repository's requirements, it needs only g++ and python3-venv. An
unprivileged user installs the wheel there into a new environment and executes the notebook of the first course.
Packages are downloaded from PyPI. Root has to run the script, and it changes nothing in ROOT except /tmp/wheel-proof.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
NOBODY = 65534
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
PASSED_ON = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT")


def within(root, command, **how):
    """Runs a shell command in the root as an unprivileged user; /proc is mounted meanwhile."""
    setup = 'mount -t proc proc "$1/proc" && exec chroot --userspec=65534:65534 "$1" /bin/sh -euc "$2"'
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment |= {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/tmp/wheel-proof", "LANG": "C.UTF-8",
                    "PIP_CERT": "/tmp/wheel-proof/certificates.crt",
                    "SSL_CERT_FILE": "/tmp/wheel-proof/certificates.crt", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(["unshare", "--mount", "sh", "-euc", setup, "sh", root, f"cd /tmp/wheel-proof; {command}"],
                          env=environment, check=False, **how)


def prepare(root, wheel):
    """Copies the wheel, the notebook and the checks into the root."""
    place = root / "tmp" / "wheel-proof"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    shutil.copy(wheel, place)
    shutil.copy(REPOSITORY / "tests" / "packaging" / "environment_test.py", place)
    if CERTIFICATES.exists():
        shutil.copy(CERTIFICATES, place / "certificates.crt")
    subprocess.run([sys.executable, REPOSITORY / "packaging" / "python" / "notebook" / "make_notebook.py", place / "ata.ipynb"], check=True)
    for path in (place, *place.iterdir()):
        os.chown(path, NOBODY, NOBODY)


def can_slice(root):
    """Whether the installed slicer finds the libraries that it loads."""
    program = "env/lib/python3*/site-packages/cuda_on_cpu/native/bin/slice"
    return within(root, f"! ldd {program} | grep 'not found' && env/bin/slice --help > slice.txt", capture_output=True).returncode == 0


def main():
    """Prints the software of the root, and one TAP line per check."""
    if len(sys.argv) != 3:
        sys.exit("usage: wheel.py ROOT WHEEL")
    if os.geteuid() != 0:
        sys.exit("wheel.py: a directory becomes the root of a command only if root runs it")
    root, wheel = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    prepare(root, wheel)
    said = within(root, ". /etc/os-release; echo $PRETTY_NAME; g++ --version | head -1; python3 --version; ldd --version | head -1; id -un",
                  capture_output=True, text=True)
    print("\n".join(f"# {line}" for line in (said.stdout + said.stderr).splitlines()), flush=True)
    began = time.monotonic()
    made = within(root, f"python3 -m venv env && env/bin/pip install -q nbclient nbformat ipykernel ./{wheel.name}")
    if made.returncode != 0:
        sys.exit("wheel.py: the wheel cannot be installed")
    print(f"# {wheel.name} is installed after {time.monotonic() - began:.0f} s", flush=True)
    slicing = can_slice(root)
    print(f"# slice {'runs' if slicing else 'does not run'} here", flush=True)
    sys.exit(within(root, f"env/bin/python environment_test.py env/bin ata.ipynb {'' if slicing else '--without-slice'}").returncode)


main()
