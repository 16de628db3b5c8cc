"""The library: NumPy's matmul, BLAS's gemm and transposes for NumPy and PyOpenCL arrays, on any OpenCL device."""
