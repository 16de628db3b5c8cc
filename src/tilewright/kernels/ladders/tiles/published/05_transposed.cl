// Rectangular tiles without guards: sizes are multiples of the tile, and indices are int.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles; BM and BN are equal
// TN          columns of C that a work-item computes, BN / TN apart
// PAD         elements that no one uses at the end of each row of tile_b

#define ITEMS_N (BN / TN)

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* BT, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int row = get_group_id(0) * BM + item_m;
    const int column = get_group_id(1) * BN;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BN][BK + PAD];
    REAL sum[TN];
    for (int n = 0; n < TN; n++)
        sum[n] = 0;
    for (int tile = 0; tile < K / BK; tile++) {
        for (int i = item_n; i < BK; i += ITEMS_N) {
            tile_a[i][item_m] = A[(tile * BK + i) * M + row];
            tile_b[item_m][i] = BT[(tile * BK + i) * N + column + item_m];
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++)
            for (int n = 0; n < TN; n++)
                sum[n] += tile_a[k][item_m] * tile_b[item_n + n * ITEMS_N][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int n = 0; n < TN; n++)
        C[(column + item_n + n * ITEMS_N) * M + row] = sum[n];
}
