"""Products, transposes and copies for CPU devices: what a CPU BLAS does, in OpenCL C."""
