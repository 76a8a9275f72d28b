"""Draws many figures concurrently, with one process per core."""

import multiprocessing
import os

work = None  # the forked processes inherit this variable, because the drawing functions cannot be pickled


def draw_and_write(file):
    """Writes one of the files."""
    directory, asked, draw = work
    (directory / file).write_text(draw(*asked[file]))


def write(directory, asked, draw):
    """Writes each file with the result of a function; `asked` maps the file's name to the arguments."""
    global work
    work = directory, asked, draw
    with multiprocessing.get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
        pool.map(draw_and_write, asked, chunksize=1)
