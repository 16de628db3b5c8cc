"""tilewright: matrix kernels in OpenCL C, run, verified and measured on any device. Public names only."""
