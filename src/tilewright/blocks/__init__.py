"""Products of matrices whose blocks of rows lie on several devices: GPUs of PyTorch's, CuPy's and other arrays, or PyOpenCL's.

`matmul` and `gemm` take a list of blocks, each on its own device, and give a list: every block of the result lies where its
rows of `a` do. What is one array for all blocks goes to the other devices in panels, while the panels before are multiplied.

Public are the names in `__all__`. They need what `tilewright` itself needs.
"""

from .products import gemm, matmul

__all__ = ["gemm", "matmul"]
