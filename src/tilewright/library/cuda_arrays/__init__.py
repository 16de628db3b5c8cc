"""Arrays in the memory of NVIDIA's GPUs, as PyTorch, CuPy, JAX, Numba and others hold them. One file for each kind."""
