"""Serves the book to browsers on this machine, and to nobody else: python3 docs serve HTML [PORT]

Without a port it is 8000, or a free one where that is taken. ./climb serve runs it.
"""

import functools
import http.server
import pathlib
import sys

USUAL = 8000


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers with the book's files, silently, and says that they may change."""

    def end_headers(self):
        """Lets no browser keep a page of a book that is built anew."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_):
        """Prints nothing."""


def server(directory, port):
    """A server on the loopback address; without a port on the usual one, or on any that is free."""
    handler = functools.partial(Handler, directory=directory)
    for number in [int(port)] if port else [USUAL, 0]:
        try:
            return http.server.ThreadingHTTPServer(("127.0.0.1", number), handler)
        except OSError as error:
            taken = error
    raise SystemExit(f"port {port} cannot be used: {taken.strerror}")


def main(html, port=""):
    """Serves until it is interrupted."""
    if not pathlib.Path(html, "index.html").exists():
        print(f"there is no book in {html}; ./climb book builds it", file=sys.stderr)
        return 1
    with server(html, port) as running:
        print(f"The book is at http://127.0.0.1:{running.server_port}/ (Ctrl-C ends this)", flush=True)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0
