// `tiled` with vectors of VEC elements: one load instruction replaces VEC of them.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles: all equal in this rung
// VEC         elements of a vector: rows of C that a work-item computes (TM is the same)
//
// One wide load is one instruction where there were VEC, in global memory and in local memory. The vectors of A and C
// run along M and those of B along K, so M and K must be multiples of VEC: then no vector crosses an edge.

typedef VECTOR(VEC) vector;

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const size_t row = get_group_id(0) * BM + item_m * VEC;
    const size_t column = get_group_id(1) * BN + item_n;
    // A pointer to vectors promises their alignment; VLOAD only promises that of an element, and may become VEC loads.
    const __global vector* A_vectors = (const __global vector*)A;
    const __global vector* B_vectors = (const __global vector*)B;
    __global vector* C_vectors = (__global vector*)C;

    __local vector tile_a[BK][BM / VEC];
    __local vector tile_b[BN][BK / VEC];
    const vector zero = SPLAT(VEC, 0);
    vector sum = zero;
    for (size_t first = 0; first < K; first += BK) {
        const size_t k_of_a = first + item_n;
        const size_t k_of_b = first + item_m * VEC;
        tile_a[item_n][item_m] = row < M && k_of_a < K ? A_vectors[(k_of_a * M + row) / VEC] : zero;
        tile_b[item_n][item_m] = column < N && k_of_b < K ? B_vectors[(column * K + k_of_b) / VEC] : zero;
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int i = 0; i < BK / VEC; i++) {
            REAL b[VEC];
            VSTORE(VEC)(tile_b[item_n][i], 0, b);  // an array, since the components of a vector have no index
#pragma unroll
            for (int k = 0; k < VEC; k++)
                sum += tile_a[i * VEC + k][item_m] * b[k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < M && column < N)
        C_vectors[(column * M + row) / VEC] = sum;
}
