// The product reads A again for every column, and has no guards: the compiler is to keep A in a register.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles: all equal
// TN          columns of C that a work-item computes, BN / TN apart
//
// As it is written this takes two local reads for each multiply-add, like `tiled`. The tutorial counted 9/8 in the machine
// code, where the read of A was taken out of the loop over the columns.

#define ITEMS_N (BN / TN)

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int row = get_group_id(0) * BM + item_m;
    const int first_column = get_group_id(1) * BN + item_n;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BN][BK];
    REAL sum[TN];
    for (int n = 0; n < TN; n++)
        sum[n] = 0;
    for (int tile = 0; tile < K / BK; tile++) {
        for (int n = 0; n < TN; n++) {
            const int step = n * ITEMS_N;
            tile_a[item_n + step][item_m] = A[(tile * BK + item_n + step) * M + row];
            tile_b[item_n + step][item_m] = B[(first_column + step) * K + tile * BK + item_m];
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++)
            for (int n = 0; n < TN; n++)
                sum[n] += tile_a[k][item_m] * tile_b[item_n + n * ITEMS_N][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int n = 0; n < TN; n++)
        C[(first_column + n * ITEMS_N) * M + row] = sum[n];
}
