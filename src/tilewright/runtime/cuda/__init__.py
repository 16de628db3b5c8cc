"""The CUDA counterpart of every kernel: NVRTC compiles it, NVIDIA's driver runs it."""
