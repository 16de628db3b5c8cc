"""MPI: products of matrices whose blocks lie on the ranks of a job.

`matmul` multiplies blocks where they are; `best_grid` and `block` say how to cut matrices. Every rank makes the same calls.

Public are the names in `__all__`. They need mpi4py and an MPI library, which `import tilewright` does not load.
"""

from ..core.install import install_extra

try:
    import mpi4py as _mpi4py  # noqa: F401
except ImportError as missing:
    raise ImportError(f"tilewright.mpi needs mpi4py and an MPI library: {install_extra('mpi')}") from missing

from .blocks import best_grid, block
from .products import matmul

__all__ = ["best_grid", "block", "matmul"]
