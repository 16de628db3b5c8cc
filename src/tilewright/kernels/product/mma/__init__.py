"""Matrix products by mma.sync, the matrix instruction of a warp, on NVIDIA GPUs since sm_80.

main_loop_tma.cl, with config_tma.py, is the loop for fp64 and complex128 on Hopper.
"""
