// The register tile without guards: sizes are multiples of the tile, and indices are int.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles; BM and BN are equal
// TM, TN      rows and columns of C that a work-item computes, BM / TM and BN / TN apart
// PAD         elements that no one uses at the end of each row of tile_b

#define ITEMS_M (BM / TM)
#define ITEMS_N (BN / TN)
#define ITEMS (ITEMS_M * ITEMS_N)

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* BT, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int item = item_n * ITEMS_M + item_m;
    const int first_row = get_group_id(0) * BM;
    const int first_column = get_group_id(1) * BN;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BN][BK + PAD];
    REAL sum[TM][TN];
#pragma unroll
    for (int m = 0; m < TM; m++)
#pragma unroll
        for (int n = 0; n < TN; n++)
            sum[m][n] = 0;
    for (int tile = 0; tile < K / BK; tile++) {
#pragma unroll
        for (int j = 0; j < BK * BM / ITEMS; j++) {  // as many elements of B, since the tile is square
            const int i = j * ITEMS + item;
            const int k = tile * BK + i / BM;
            tile_a[i / BM][i % BM] = A[k * M + first_row + i % BM];
            tile_b[i % BM][i / BM] = BT[k * N + first_column + i % BM];
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++) {
            REAL b[TN];
#pragma unroll
            for (int n = 0; n < TN; n++)
                b[n] = tile_b[item_n + n * ITEMS_N][k];
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
