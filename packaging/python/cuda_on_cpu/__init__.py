"""Compiles CUDA C++ for the CPU, runs it there and checks its accesses to memory.

`%load_ext cuda_on_cpu` adds the cell magics `%%cuda` and `%%slice` to IPython.
"""


def load_ipython_extension(shell):
    """Registers the magics. The magic %load_ext calls this function."""
    from .cells import Cells
    shell.register_magics(Cells)
