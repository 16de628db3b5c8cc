// The next tiles load while the present ones are multiplied: two buffers hide the latency.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles
// TM, TN      rows and columns of C that a work-item computes, BM / TM and BN / TN apart
// STAGES      buffers in local memory: 2
//
// The next tiles go to registers before the product and from there to local memory after it, so that the product does
// not wait for them. They go to the other buffer, so that no work-item waits until all have read the present one. The
// price is twice the local memory and more registers, hence fewer groups per core, which used to hide each other's
// latency. (The tutorial prefetches by vectors. Here loads are single words, so that any M and N will do; `any_size`
// has vectors.)

#define ITEMS_M (BM / TM)
#define ITEMS_N (BN / TN)
#define ITEMS (ITEMS_M * ITEMS_N)
#define LOADS_A (BK * BM / ITEMS)  // elements of tile_a that a work-item loads
#define LOADS_B (BK * BN / ITEMS)

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* BT, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int item = item_n * ITEMS_M + item_m;
    const size_t first_row = get_group_id(0) * BM;
    const size_t first_column = get_group_id(1) * BN;

    __local REAL tile_a[STAGES][BK][BM];
    __local REAL tile_b[STAGES][BK][BN];
    REAL sum[TN][TM] = {{0}};
    int stage = 0;
    // One step more than there are tiles: the first has nothing to multiply yet, the last has nothing to load.
    for (size_t first = 0; first < (size_t)K + BK; first += BK) {
        REAL next_a[LOADS_A], next_b[LOADS_B];
#pragma unroll
        for (int j = 0; j < LOADS_A; j++) {
            const int i = item + j * ITEMS;
            const size_t row = first_row + i % BM;
            const size_t k = first + i / BM;
            next_a[j] = row < M && k < K ? A[k * M + row] : 0;
        }
#pragma unroll
        for (int j = 0; j < LOADS_B; j++) {
            const int i = item + j * ITEMS;
            const size_t column = first_column + i % BN;
            const size_t k = first + i / BN;
            next_b[j] = column < N && k < K ? BT[k * N + column] : 0;
        }

        if (first > 0) {
            const int ready = STAGES - 1 - stage;
            for (int k = 0; k < BK; k++) {
                REAL b[TN];
#pragma unroll
                for (int n = 0; n < TN; n++)
                    b[n] = tile_b[ready][k][item_n + n * ITEMS_N];
#pragma unroll
                for (int m = 0; m < TM; m++) {
                    const REAL a = tile_a[ready][k][item_m + m * ITEMS_M];
#pragma unroll
                    for (int n = 0; n < TN; n++)
                        sum[n][m] += a * b[n];
                }
            }
        }

#pragma unroll
        for (int j = 0; j < LOADS_A; j++)
            tile_a[stage][(item + j * ITEMS) / BM][(item + j * ITEMS) % BM] = next_a[j];
#pragma unroll
        for (int j = 0; j < LOADS_B; j++)
            tile_b[stage][(item + j * ITEMS) / BN][(item + j * ITEMS) % BN] = next_b[j];
        barrier(CLK_LOCAL_MEM_FENCE);
        stage = STAGES - 1 - stage;
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
