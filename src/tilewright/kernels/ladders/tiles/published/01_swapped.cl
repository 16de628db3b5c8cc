// `naive` with dimension 0 along N: neighbours read one address of A, and jump by a column of B and of C.
//
// The tutorial's exercise: swap the two dimensions and see what coalescing is worth. It is what row-major matrices make of
// a kernel whose dimension 0 runs down the rows.

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t column = get_global_id(0);
    const size_t row = get_global_id(1);
    if (row >= M || column >= N)
        return;

    REAL sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += A[k * M + row] * B[column * K + k];
    C[column * M + row] = sum;
}
