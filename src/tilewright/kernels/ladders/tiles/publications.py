"""Where the published figures of the ladder `tiles` come from: the myGEMM tutorial, and the CSDN articles that follow it."""

from ....core.kernel import Publication

K40M = "Tesla K40m"
K40M_CUDA = "Tesla K40m, as CUDA"
CSDN_GPU = "a Mac's GPU, int32"

TUTORIAL = Publication(
    title="Tutorial: OpenCL SGEMM tuning for Kepler (myGEMM)",
    author="Cedric Nugteren, SURFsara",
    year=2014,
    link="https://cnugteren.github.io/tutorial/pages/page1.html",
    licence="MIT, copyright 2014 SURFsara (its code, github.com/CNugteren/myGEMM); the kernels here are our own",
    size=(4096, 4096, 4096),
    settings="float by columns, sizes multiples of the tiles; CUDA 6.5, ECC on; peak of the device 4,291 GFLOP/s",
    timing="the mean of 4 runs with their transposes and paddings, on the host's clock, without transfers",
    devices=(K40M, K40M_CUDA),
    others=((K40M, "cuBLAS", 3056), (K40M, "clBLAS", 572), (K40M, "clBLAS, tuned", 798)),
    claims=(
        "variants of clblas_style, the last kernel, reached 743, 773 and 830 GFLOP/s",
        "on an AMD R9 280X, the tutorial's last page, clBLAS reached 1,857 and 2,546 GFLOP/s",
    ),
)
CSDN = Publication(
    title="C++实战之OpenCL矩阵相乘优化 (C++ in practice: optimising the OpenCL matrix product), an article in two parts",
    author="哇小明",
    year=None,
    link="not known: it was published on CSDN (csdn.net)",
    licence="not stated; the kernels here are our own",
    size=(512, 512, 512),
    settings="int; all elements of A are 2 and all of B are 3; the largest work-group has 256 work-items",
    timing="the call that enqueues the kernel, and a read of the result; the host's clock",
    devices=(CSDN_GPU,),
    others=((CSDN_GPU, "a loop on the host", 0.514),),
    claims=(
        "128x128x128: the host 6.76 ms, the naive kernel 0.36 ms, the tiled one 0.41 ms",
        "32x32x32: the host 0.104 ms, the naive kernel 0.29 ms, the tiled one 0.41 ms",
        "without the read 4.6 and 3.2 us at 512x512x512: that is 58 and 84 TFLOP/s, because no one waited for the kernel",
    ),
)
