"""Matrix products by mma.sync, the matrix instruction of a warp, on NVIDIA GPUs since sm_80."""
