// The next tiles go by vectors straight into the other buffer, before the product; no guards.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles
// TM, TN      rows and columns of C that a work-item computes, BM / TM and BN / TN apart
// VEC         elements of one load from global memory: 2 or 4
// STAGES      buffers in local memory: 2
//
// Nothing is held in registers meanwhile: each load is followed by its stores, word by word. So a work-item waits for its
// loads before it multiplies, and only other work-items hide the latency.

#define ITEMS_M (BM / TM)
#define ITEMS_N (BN / TN)
#define ITEMS (ITEMS_M * ITEMS_N)

typedef VECTOR(VEC) vector;

INLINE void store_words(local REAL* to, vector words)
{
    to[0] = words.x;
    to[1] = words.y;
#if VEC == 4
    to[2] = words.z;
    to[3] = words.w;
#endif
}

INLINE void load_tiles(int tile, int item, int first_row, int first_column, int M, int N,
                       const __global REAL* A, const __global REAL* BT, local REAL* tile_a, local REAL* tile_b)
{
#pragma unroll
    for (int j = 0; j < BK * BM / VEC / ITEMS; j++) {
        const int i = (j * ITEMS + item) * VEC;
        const int k = tile * BK + i / BM;
        store_words(tile_a + i, ((const __global vector*)A)[(k * M + first_row + i % BM) / VEC]);
    }
#pragma unroll
    for (int j = 0; j < BK * BN / VEC / ITEMS; j++) {
        const int i = (j * ITEMS + item) * VEC;
        const int k = tile * BK + i / BN;
        store_words(tile_b + i, ((const __global vector*)BT)[(k * N + first_column + i % BN) / VEC]);
    }
}

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* BT, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int item = item_n * ITEMS_M + item_m;
    const int first_row = get_group_id(0) * BM;
    const int first_column = get_group_id(1) * BN;
    const int tiles = K / BK;

    __local REAL tile_a[STAGES][BK * BM];
    __local REAL tile_b[STAGES][BK * BN];
    REAL sum[TM][TN];
#pragma unroll
    for (int m = 0; m < TM; m++)
#pragma unroll
        for (int n = 0; n < TN; n++)
            sum[m][n] = 0;
    if (tiles > 0)
        load_tiles(0, item, first_row, first_column, M, N, A, BT, tile_a[0], tile_b[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int tile = 0; tile < tiles; tile++) {
        const int next = tile + 1;
        if (next < tiles)
            load_tiles(next, item, first_row, first_column, M, N, A, BT, tile_a[next % 2], tile_b[next % 2]);

#pragma unroll
        for (int k = 0; k < BK; k++) {
            REAL b[TN];
#pragma unroll
            for (int n = 0; n < TN; n++)
                b[n] = tile_b[tile % 2][k * BN + item_n + n * ITEMS_N];
#pragma unroll
            for (int m = 0; m < TM; m++) {
                const REAL a = tile_a[tile % 2][k * BM + item_m + m * ITEMS_M];
#pragma unroll
                for (int n = 0; n < TN; n++)
                    sum[m][n] += a * b[n];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (int m = 0; m < TM; m++)
#pragma unroll
        for (int n = 0; n < TN; n++)
            C[(first_column + item_n + n * ITEMS_N) * M + first_row + item_m + m * ITEMS_M] = sum[m][n];
}
