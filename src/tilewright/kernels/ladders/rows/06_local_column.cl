// The work-group copies each column of B to local memory once, and all its work-items share it.
//
// ROW_LENGTH  elements of the private row: K
// CHUNK       elements of a column that are in local memory at a time, so that any K fits
//
// Local memory pays if it is faster than the cache that would hold the column anyway. Where the device says that its
// local memory is of type "global" (the Radeon HD 4870, most CPUs), this rung can only lose.

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    // No early return: a barrier must be reached by every work-item of the group, those beyond the last row included.
    const size_t row = get_global_id(0);
    const int item = get_local_id(0);
    const int items = get_local_size(0);

    REAL own_row[ROW_LENGTH];
    for (size_t k = 0; k < K; k++)
        own_row[k] = row < M ? A[row * K + k] : 0;

    __local REAL local_column[CHUNK];
    for (size_t column = 0; column < N; column++) {
        REAL sum = 0;
        for (size_t first = 0; first < K; first += CHUNK) {
            const int length = min((size_t)CHUNK, K - first);
            for (int i = item; i < length; i += items)
                local_column[i] = B[column * K + first + i];
            barrier(CLK_LOCAL_MEM_FENCE);  // the chunk must be there before anyone reads it
            for (int i = 0; i < length; i++)
                sum += own_row[first + i] * local_column[i];
            barrier(CLK_LOCAL_MEM_FENCE);  // and read by all before anyone fills in the next one
        }
        if (row < M)
            C[row * N + column] = sum;
    }
}
