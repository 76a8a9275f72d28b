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
            yield f"the server listens on {host}, not on 127.0.0.1"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
            if answer.read() != b"the book":
                yield "the server sends another page than index.html"
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/missing.html")
            yield "the server sends a page that does not exist"
        except urllib.error.HTTPError as error:
            if error.code != 404:
                yield f"the HTTP status for a missing page is {error.code}, not 404"


def wrong_ports(directory):
    """Yields ports that are used twice, or that are silently replaced by another one."""
    with served(directory) as first, served(directory) as second:
        if first.server_port == second.server_port:
            yield "two servers use the same port"
        try:
            serve.server(directory, str(first.server_port)).server_close()
            yield "a server accepts a port that another server uses"
        except SystemExit as error:
            if f"port {first.server_port} cannot be used" not in str(error):
                yield f"the message does not name the port: '{error}'"


def missing(directory):
    """Yields a sentence if a missing book is not reported."""
    message = io.StringIO()
    with contextlib.redirect_stderr(message):
        status = serve.main(str(directory / "html"))
    if status != 1 or "./climb book builds it" not in message.getvalue():
        yield f"the exit status is {status}, and the message is: {message.getvalue()}"


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    (place / "index.html").write_text("the book")
    tap.report((("the server sends the pages of the book, and only to this machine", wrong_answers(place)),
                ("each server uses a free port, and refuses a requested port that is in use", wrong_ports(place)),
                ("a missing book is reported with the command that builds it", missing(place))))
