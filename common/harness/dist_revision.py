"""Writes the revision of the sources into a tarball. `meson dist` runs this script."""

import os
import pathlib
import subprocess

revision = subprocess.run(["git", "describe", "--always", "--exclude=*"], cwd=os.environ["MESON_SOURCE_ROOT"], check=True,
                          capture_output=True, text=True).stdout
pathlib.Path(os.environ["MESON_DIST_ROOT"], "revision.txt").write_text(revision)
