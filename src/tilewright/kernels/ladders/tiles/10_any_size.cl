// `prefetch` with vectors on operands padded to whole tiles: any size, without guards in the loop.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles
// TM, TN      rows and columns of C that a work-item computes, BM / TM and BN / TN apart
// VEC         elements of one load from global memory
// STAGES      buffers in local memory: 2
//
// The sizes that this kernel gets are rounded up to BM, BN and BK. pad_transpose.cl and pad.cl run before it, and
// pad.cl once more after it: about M * K + K * N + M * N elements copied, for M * N * K products.

#define ITEMS_M (BM / TM)
#define ITEMS_N (BN / TN)
#define ITEMS (ITEMS_M * ITEMS_N)
#define LOADS_A (BK * BM / VEC / ITEMS)  // vectors of tile_a that a work-item loads
#define LOADS_B (BK * BN / VEC / ITEMS)

typedef VECTOR(VEC) vector;

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* BT, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int item = item_n * ITEMS_M + item_m;
    const size_t first_row = get_group_id(0) * BM;
    const size_t first_column = get_group_id(1) * BN;
    const __global vector* A_vectors = (const __global vector*)A;
    const __global vector* BT_vectors = (const __global vector*)BT;

    __local vector tile_a[STAGES][BK][BM / VEC];
    __local vector tile_b[STAGES][BK][BN / VEC];
    REAL sum[TN][TM] = {{0}};
    int stage = 0;
    for (size_t first = 0; first < (size_t)K + BK; first += BK) {
        vector next_a[LOADS_A], next_b[LOADS_B];
        if (first < K) {
#pragma unroll
            for (int j = 0; j < LOADS_A; j++) {
                const int i = (item + j * ITEMS) * VEC;
                next_a[j] = A_vectors[((first + i / BM) * M + first_row + i % BM) / VEC];
            }
#pragma unroll
            for (int j = 0; j < LOADS_B; j++) {
                const int i = (item + j * ITEMS) * VEC;
                next_b[j] = BT_vectors[((first + i / BN) * N + first_column + i % BN) / VEC];
            }
        }

        if (first > 0) {
            const int ready = STAGES - 1 - stage;
            for (int k = 0; k < BK; k++) {
                const local REAL* row_of_a = (const local REAL*)tile_a[ready][k];
                const local REAL* row_of_b = (const local REAL*)tile_b[ready][k];
                REAL b[TN];
#pragma unroll
                for (int n = 0; n < TN; n++)
                    b[n] = row_of_b[item_n + n * ITEMS_N];
#pragma unroll
                for (int m = 0; m < TM; m++) {
                    const REAL a = row_of_a[item_m + m * ITEMS_M];
#pragma unroll
                    for (int n = 0; n < TN; n++)
                        sum[n][m] += a * b[n];
                }
            }
        }

        if (first < K) {
#pragma unroll
            for (int j = 0; j < LOADS_A; j++) {
                const int i = (item + j * ITEMS) * VEC;
                tile_a[stage][i / BM][i % BM / VEC] = next_a[j];
            }
#pragma unroll
            for (int j = 0; j < LOADS_B; j++) {
                const int i = (item + j * ITEMS) * VEC;
                tile_b[stage][i / BN][i % BN / VEC] = next_b[j];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        stage = STAGES - 1 - stage;
    }
#pragma unroll
    for (int n = 0; n < TN; n++)
#pragma unroll
        for (int m = 0; m < TM; m++) {
            const size_t row = first_row + item_m + m * ITEMS_M;
            const size_t column = first_column + item_n + n * ITEMS_N;
            C[column * M + row] = sum[n][m];
        }
}
