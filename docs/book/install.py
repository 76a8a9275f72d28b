"""Installs the book, if it was built: python3 docs install HTML TARGET. Meson runs it."""

import os
import pathlib
import shutil


def main(html, target):
    """Copies the book to its directory below DESTDIR and replaces an existing copy."""
    html, target = pathlib.Path(html), pathlib.Path(target)
    destdir = os.environ.get("DESTDIR")
    target = pathlib.Path(destdir, target.relative_to("/")) if destdir else target
    if not (html / "index.html").exists():
        print("The book is not built; `ninja book` builds it.")
        return
    print(f"Installing the book to {target}")
    if "MESON_INSTALL_DRY_RUN" not in os.environ:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(html, target)
