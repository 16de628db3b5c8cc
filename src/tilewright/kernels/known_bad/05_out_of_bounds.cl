// Wrong: the tiles are loaded without a guard for K, so the last one reads beyond the end of A and of B^T.
//
// `tiles/register_tile` without its guard of K. The published kernel reads beyond only if K < BK; else it drops the
// rest of K.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles
// TM, TN      rows and columns of C that a work-item computes, BM / TM and BN / TN apart
// PAD         elements that no one uses at the end of each row of tile_b

#define ITEMS_M (BM / TM)  // work-items of a group along M
#define ITEMS_N (BN / TN)  // and along N
#define ITEMS (ITEMS_M * ITEMS_N)

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* BT, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int item = item_n * ITEMS_M + item_m;
    const size_t first_row = get_group_id(0) * BM;
    const size_t first_column = get_group_id(1) * BN;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BN][BK + PAD];
    REAL sum[TN][TM] = {{0}};
    for (size_t first = 0; first < K; first += BK) {
        for (int i = item; i < BK * BM; i += ITEMS) {
            const size_t row = first_row + i % BM;
            const size_t k = first + i / BM;
            tile_a[i / BM][i % BM] = row < M ? A[k * M + row] : 0;
        }
        for (int i = item; i < BK * BN; i += ITEMS) {
            const size_t column = first_column + i % BN;
            const size_t k = first + i / BN;
            tile_b[i % BN][i / BN] = column < N ? BT[k * N + column] : 0;
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
                    sum[n][m] += a * b[n];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (int n = 0; n < TN; n++)
#pragma unroll
        for (int m = 0; m < TM; m++) {
            const size_t row = first_row + item_m + m * ITEMS_M;
            const size_t column = first_column + item_n + n * ITEMS_N;
            if (row < M && column < N)
                C[column * M + row] = sum[n][m];
        }
}
