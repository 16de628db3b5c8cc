// One work-item per element of C, neighbours along the contiguous side: loads of A are coalesced.
//
// All matrices are stored by columns: element (row, k) of A is A[k * M + row]. Work-items that are neighbours in
// dimension 0 run in step, so each load of A and store of C takes neighbouring words, and all of them read the same
// word of B. Every product still costs two loads from global memory.

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    // size_t, here and in all that follows: a product of two coordinates may pass 2^31, where an int would overflow.
    const size_t row = get_global_id(0);
    const size_t column = get_global_id(1);
    if (row >= M || column >= N)
        return;  // the NDRange is rounded up to whole work-groups

    REAL sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += A[k * M + row] * B[column * K + k];
    C[column * M + row] = sum;
}
