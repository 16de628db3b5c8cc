// One work-item per element of C: simple, but every multiply-add waits for two loads.

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(1);
    const size_t column = get_global_id(0);
    if (row >= M || column >= N)
        return;  // the NDRange is rounded up to whole work-groups

    REAL sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
