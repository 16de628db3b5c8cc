"""Scripts, run by path in child processes: they import NumPy, PyTorch and each other by bare names, never tilewright,
which would load OpenCL and its threads beside the library that is measured."""
