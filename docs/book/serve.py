"""Serves the book to browsers on this machine only: python3 docs serve HTML [PORT]

The default port is 8000, or any free port if 8000 is in use. ./climb serve runs this program.
"""

import functools
import http.server
import pathlib
import sys

USUAL = 8000


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the book's files without a log, and forbids browsers to cache them."""

    def end_headers(self):
        """Forbids caching, since the book may be built again."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_):
        """Prints nothing."""


def server(directory, port):
    """A server on the loopback address, at the given port, the default port, or any free port."""
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
