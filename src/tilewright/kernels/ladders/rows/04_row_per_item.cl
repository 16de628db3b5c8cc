// One work-item computes a whole row of C: fewer work-items, but all N sums share a row of A.
//
// By itself this only costs parallelism: M work-items instead of M * N. It is done for what the next rungs make of it,
// as all N sums of a work-item now use the same row of A.

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0);
    if (row >= M)
        return;

    for (size_t column = 0; column < N; column++) {
        REAL sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += A[row * K + k] * B[column * K + k];
        C[row * N + column] = sum;
    }
}
