"""CUDA counterparts of the kernels: NVRTC compiles them, NVIDIA's driver runs them."""
