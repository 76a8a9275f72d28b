"""Replaces the links to the sources in an sdist by copies of the sources. `meson dist` runs this script."""

import os
import pathlib
import shutil

SOURCE, SDIST = (pathlib.Path(os.environ[name]) for name in ("MESON_PROJECT_SOURCE_ROOT", "MESON_PROJECT_DIST_ROOT"))
# The directories that the package needs. Tests and other programs of the project are omitted.
SOURCES = ("cuda_on_cpu", "slicer", "harness", "include")
UNUSED = shutil.ignore_patterns("tests", "gallery", "__pycache__")


def main():
    """Replaces the links by copies of the sources."""
    (SDIST / "common").unlink()
    for name in SOURCES:
        shutil.copytree(SOURCE / "common" / name, SDIST / "common" / name, ignore=UNUSED)
    (SDIST / "LICENSE").unlink()
    shutil.copy(SOURCE / "LICENSE", SDIST / "LICENSE")


main()
