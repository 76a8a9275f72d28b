"""Puts the sources into an sdist, in place of the links to them: dist_sources.py, run by `meson dist`."""

import os
import pathlib
import shutil

SOURCE, SDIST = (pathlib.Path(os.environ[name]) for name in ("MESON_PROJECT_SOURCE_ROOT", "MESON_PROJECT_DIST_ROOT"))
# What a package is made of; tests and the programs of the project stay out.
SOURCES = ("cuda_on_cpu", "slicer", "harness", "include")
UNUSED = shutil.ignore_patterns("tests", "gallery", "__pycache__")


def main():
    """Replaces the links."""
    (SDIST / "common").unlink()
    for name in SOURCES:
        shutil.copytree(SOURCE / "common" / name, SDIST / "common" / name, ignore=UNUSED)
    (SDIST / "LICENSE").unlink()
    shutil.copy(SOURCE / "LICENSE", SDIST / "LICENSE")


main()
