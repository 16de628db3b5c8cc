// Wide loads, but each vector goes to the tiles by four stores of one word; no guards.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles; BM and BN are equal
// TM, TN      rows and columns of C that a work-item computes, BM / TM and BN / TN apart
// VEC         elements of one load from global memory: 4
//
// From work-item to work-item each of the four stores goes on by four words. So it meets 8 of the 32 banks, and takes four
// passes. A compiler that sees the alignment of the four merges them into one wide store, which is free of conflicts:
// NVRTC does, as `tilewright inspect` shows.

#define ITEMS_M (BM / TM)
#define ITEMS_N (BN / TN)
#define ITEMS (ITEMS_M * ITEMS_N)

typedef VECTOR(VEC) vector;

INLINE void store_words(local REAL* to, vector words)
{
    to[0] = words.x;
    to[1] = words.y;
    to[2] = words.z;
    to[3] = words.w;
}

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* BT, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int item = item_n * ITEMS_M + item_m;
    const int first_row = get_group_id(0) * BM;
    const int first_column = get_group_id(1) * BN;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BK][BN];
    REAL sum[TM][TN];
#pragma unroll
    for (int m = 0; m < TM; m++)
#pragma unroll
        for (int n = 0; n < TN; n++)
            sum[m][n] = 0;
    for (int tile = 0; tile < K / BK; tile++) {
#pragma unroll
        for (int j = 0; j < BK * BM / VEC / ITEMS; j++) {  // as many vectors of B, since the tile is square
            const int line = (j * ITEMS + item) / (BM / VEC);
            const int place = (j * ITEMS + item) % (BM / VEC);
            const int k = tile * BK + line;
            store_words(&tile_a[line][VEC * place], ((const __global vector*)A)[k * (M / VEC) + first_row / VEC + place]);
            store_words(&tile_b[line][VEC * place], ((const __global vector*)BT)[k * (N / VEC) + first_column / VEC + place]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
        for (int k = 0; k < BK; k++) {
            REAL b[TN];
#pragma unroll
            for (int n = 0; n < TN; n++)
                b[n] = tile_b[k][item_n + n * ITEMS_N];
#pragma unroll
            for (int m = 0; m < TM; m++) {
                const REAL a = tile_a[k][item_m + m * ITEMS_M];
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
