// Wrong: no barrier after the product, so a fast work-item overwrites the column that a slow one still reads.
//
// `rows/local_column` as it was published, except for the chunks. It gives right results wherever the work-items of a
// group happen to run in step, or one wholly after the other: a data race is a matter of luck.
//
// ROW_LENGTH  elements of the private row: K
// CHUNK       elements of a column that are in local memory at a time

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
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
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int i = 0; i < length; i++)
                sum += own_row[first + i] * local_column[i];
        }
        if (row < M)
            C[row * N + column] = sum;
    }
}
