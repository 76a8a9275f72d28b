"""Runs a program for a cell. The output is shown while the program runs, and the program ends with the cell."""

import codecs
import os
import selectors
import signal
import subprocess
import time

MOST_OUTPUT = 2_000_000  # characters that a notebook can show and store
CHUNK = 1 << 16


class Ended(Exception):
    """The reason, in a sentence, why a program was killed before it had finished."""


def run(command, show, environment=None, time_limit=None):
    """Runs a command and returns its exit status.

    `show` is called with "stdout" or "stderr", and text. The program and all processes that it starts are killed if the
    time limit (in seconds) passes or if the output is too long. They are also killed if `show` or a signal raises an
    exception, as an interrupt of the kernel does. Raises Ended, or OSError if the program cannot be started.
    """
    began, printed = time.monotonic(), 0
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                               start_new_session=True)
    try:
        with selectors.DefaultSelector() as pipes:
            for pipe, name in ((process.stdout, "stdout"), (process.stderr, "stderr")):
                pipes.register(pipe, selectors.EVENT_READ, (name, codecs.getincrementaldecoder("utf-8")("replace")))
            while pipes.get_map():
                ready = pipes.select(timeout=0.05)
                for key, _ in ready:
                    data = os.read(key.fd, CHUNK)
                    name, decoder = key.data
                    text = decoder.decode(data, final=not data)
                    if text:
                        show(name, text)
                    printed += len(text)
                    if not data:
                        pipes.unregister(key.fileobj)
                # A process that the program leaves behind may keep the pipes open.
                if not ready and process.poll() is not None:
                    break
                if printed > MOST_OUTPUT:
                    raise Ended(f"the program was ended because it printed more than {MOST_OUTPUT // 1_000_000} MB")
                if time_limit is not None and time.monotonic() - began > time_limit:
                    raise Ended(f"the program was ended after {time_limit:g} s; --time-limit sets another limit")
        remaining = None if time_limit is None else max(0.1, time_limit - (time.monotonic() - began))
        return process.wait(remaining)
    except subprocess.TimeoutExpired:
        raise Ended(f"the program was ended after {time_limit:g} s; --time-limit sets another limit") from None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        process.stdout.close()
        process.stderr.close()
