"""Tests the server of the book: serve_test.py. Prints TAP."""

import contextlib
import io
import pathlib
import tempfile
import threading
import urllib.error
import urllib.request

import tap
from book import serve


@contextlib.contextmanager
def served(directory, port=""):
    """A running server of a directory."""
    with serve.server(directory, port) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def wrong_answers(directory):
    """Yields pages that are not served, or that other machines can read."""
    with served(directory) as running:
        host, port = running.server_address
        if host != "127.0.0.1":
            yield f"it is served on {host}"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
            if answer.read() != b"the book":
                yield "another page"
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/missing.html")
            yield "a page that is not there is served"
        except urllib.error.HTTPError as error:
            if error.code != 404:
                yield f"the status is {error.code}"


def wrong_ports(directory):
    """Yields ports that are used twice, or that are silently replaced by another one."""
    with served(directory) as first, served(directory) as second:
        if first.server_port == second.server_port:
            yield "a port is used twice"
        try:
            serve.server(directory, str(first.server_port)).server_close()
            yield "a port that is taken is used"
        except SystemExit as error:
            if f"port {first.server_port} cannot be used" not in str(error):
                yield f"it says '{error}'"


def missing(directory):
    """Yields a sentence if a missing book is not reported."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        status = serve.main(str(directory / "html"))
    if status != 1 or "./climb book builds it" not in said.getvalue():
        yield f"status {status}: {said.getvalue()}"


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    (place / "index.html").write_text("the book")
    tap.report((("the book is served to this machine", wrong_answers(place)), ("a free port is found", wrong_ports(place)),
                ("a book that is not built is missed", missing(place))))
