// A work-item computes TN columns of C: one local read of A serves TN products.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles: all equal in this rung
// TN          columns of C that a work-item computes, BN / TN apart
//
// `tiled` reads local memory twice for each multiply-add; here it is 1 + 1 / TN times: 9/8 for TN = 8. Local memory
// serves fewer words per cycle than the arithmetic units want operands, so that ratio sets the speed.

#define ITEMS_N (BN / TN)  // work-items of a group along N; TN steps of a loop cover the BN columns of a tile

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const size_t row = get_group_id(0) * BM + item_m;
    const size_t first_column = get_group_id(1) * BN + item_n;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BN][BK];
    REAL sum[TN] = {0};
    for (size_t first = 0; first < K; first += BK) {
        for (int n = 0; n < TN; n++) {
            const size_t column = first_column + n * ITEMS_N;
            const size_t k_of_a = first + item_n + n * ITEMS_N;
            const size_t k_of_b = first + item_m;
            tile_a[item_n + n * ITEMS_N][item_m] = row < M && k_of_a < K ? A[k_of_a * M + row] : 0;
            tile_b[item_n + n * ITEMS_N][item_m] = column < N && k_of_b < K ? B[column * K + k_of_b] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++) {
            const REAL a = tile_a[k][item_m];
            // Registers have no address, so `sum` can live in registers only if all its indices are constants: every
            // loop over it is to be unrolled.
#pragma unroll
            for (int n = 0; n < TN; n++)
                sum[n] += a * tile_b[item_n + n * ITEMS_N][k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (int n = 0; n < TN; n++) {
        const size_t column = first_column + n * ITEMS_N;
        if (row < M && column < N)
            C[column * M + row] = sum[n];
    }
}
