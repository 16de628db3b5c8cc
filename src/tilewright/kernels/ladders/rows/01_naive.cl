// One work-item per element of C: all run at once, but each product costs four memory accesses.

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    // size_t, here and in all that follows: a product of two coordinates may pass 2^31, where an int would overflow.
    const size_t row = get_global_id(0);
    const size_t column = get_global_id(1);
    if (row >= M || column >= N)
        return;  // the NDRange is rounded up to whole work-groups

    C[row * N + column] = 0;
    // For all that the compiler knows, C may overlap A or B. So it must not keep the sum in a register: every step of
    // this loop loads C, adds, and stores it back.
    for (size_t k = 0; k < K; k++)
        C[row * N + column] += A[row * K + k] * B[k * N + column];
}
