"""What kernels of several folders need of a device (`Kernel.requires`): a feature, and why a device without it is refused."""

MMA = ("mma", "mma.sync multiplies matrices in one instruction on NVIDIA GPUs since sm_80")
LDMATRIX = ("ldmatrix", "ldmatrix loads matrices from local memory on NVIDIA GPUs since sm_75")
CP_ASYNC = ("cp_async", "cp.async copies to local memory asynchronously on NVIDIA GPUs since sm_80")
TMA = ("tma", "TMA copies tiles on NVIDIA GPUs since sm_90")
WGMMA = ("wgmma", "warpgroups multiply by wgmma on sm_90a, NVIDIA's Hopper GPUs")
SETMAXNREG = ("wgmma", "registers are dealt out among warps by setmaxnreg, which sm_90a has")
