// Vectors go from global memory to registers: the cache shares them, without local memory.
//
// BM, BN  rows and columns of C that a work-group computes
// TM, TN  rows and columns of C that a work-item computes: TM is also the width of the loads from A
// VEC     depth of one step along K, and the width of the loads from B; K must be a multiple of it, and M of TM
//
// The work-items of a group read overlapping pieces of A and B within a short time, so most loads hit the cache. That
// saves the copies, the barriers and the second tile size, and costs loads whose latency only other work-items hide.
// B is not transposed here: a work-item takes its elements along K, the contiguous side.

typedef VECTOR(TM) rows_vector;
typedef VECTOR(VEC) depth_vector;

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0) * TM;
    const size_t column = get_global_id(1) * TN;
    if (row >= M || column >= N)
        return;
    const __global rows_vector* A_vectors = (const __global rows_vector*)A;
    const __global depth_vector* B_vectors = (const __global depth_vector*)B;
    __global rows_vector* C_vectors = (__global rows_vector*)C;

    rows_vector sum[TN];
#pragma unroll
    for (int n = 0; n < TN; n++)
        sum[n] = SPLAT(TM, 0);
    for (size_t first = 0; first < K; first += VEC) {
        rows_vector a[VEC];
#pragma unroll
        for (int k = 0; k < VEC; k++)
            a[k] = A_vectors[((first + k) * M + row) / TM];
#pragma unroll
        for (int n = 0; n < TN; n++) {
            // Beyond the last column this reads the last one again; its sums are not stored.
            const size_t valid_column = min(column + n, (size_t)N - 1);
            REAL b[VEC];
            VSTORE(VEC)(B_vectors[(valid_column * K + first) / VEC], 0, b);
#pragma unroll
            for (int k = 0; k < VEC; k++)
                sum[n] += a[k] * b[k];
        }
    }
#pragma unroll
    for (int n = 0; n < TN; n++)
        if (column + n < N)
            C_vectors[((column + n) * M + row) / TM] = sum[n];
}
