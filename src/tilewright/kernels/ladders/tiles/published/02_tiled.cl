// Square tiles without guards: sizes are multiples of the tile, and indices are int.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles: all equal

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int row = get_group_id(0) * BM + item_m;
    const int column = get_group_id(1) * BN + item_n;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BN][BK];
    REAL sum = 0;
    for (int tile = 0; tile < K / BK; tile++) {
        tile_a[item_n][item_m] = A[(tile * BK + item_n) * M + row];
        tile_b[item_n][item_m] = B[column * K + tile * BK + item_m];
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++)
            sum += tile_a[k][item_m] * tile_b[item_n][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[column * M + row] = sum;
}
