"""Draws many things at a time, in a process for each core."""

import multiprocessing
import os

work = None  # processes get it as they are forked, since what draws cannot be pickled


def draw_and_write(file):
    """Writes one of the files."""
    directory, asked, draw = work
    (directory / file).write_text(draw(*asked[file]))


def write(directory, asked, draw):
    """Writes what a function makes of the arguments that stand by the name of each file."""
    global work
    work = directory, asked, draw
    with multiprocessing.get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
        pool.map(draw_and_write, asked, chunksize=1)
