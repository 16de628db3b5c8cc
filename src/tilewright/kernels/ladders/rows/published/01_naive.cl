// Each product is added to C in global memory, which the host must have set to zero.

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0);
    const size_t column = get_global_id(1);
    if (row >= M || column >= N)
        return;

    for (size_t k = 0; k < K; k++)
        C[row * N + column] += A[row * K + k] * B[k * N + column];
}
