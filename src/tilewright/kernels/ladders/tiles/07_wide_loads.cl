// `register_tile` with loads and stores of VEC elements: a quarter of the copy instructions.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles
// TM, TN      rows and columns of C that a work-item computes, BM / TM and BN / TN apart
// VEC         elements of one load from global memory; M and N must be multiples of it
//
// A vector of B^T runs along N. tile_b[BN][BK] would tear it into single words again; rows along N take it whole. The
// tiles are arrays of vectors: that promises their alignment, so a store of a vector is one instruction. VSTORE into an
// array of REAL promises the alignment of one REAL, and becomes VEC stores, each with a stride of VEC words. No pad is
// needed. The product reads the tiles word by word, through pointers to REAL: neighbours read neighbours.

#define ITEMS_M (BM / TM)
#define ITEMS_N (BN / TN)
#define ITEMS (ITEMS_M * ITEMS_N)

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
    const vector zero = SPLAT(VEC, 0);

    __local vector tile_a[BK][BM / VEC];
    __local vector tile_b[BK][BN / VEC];
    REAL sum[TN][TM] = {{0}};
    for (size_t first = 0; first < K; first += BK) {
        // One step for each ITEMS vectors of a tile; a tile may have fewer vectors than there are work-items.
        for (int i = item * VEC; i < BK * BM; i += ITEMS * VEC) {
            const size_t row = first_row + i % BM;
            const size_t k = first + i / BM;
            tile_a[i / BM][i % BM / VEC] = row < M && k < K ? A_vectors[(k * M + row) / VEC] : zero;
        }
        for (int i = item * VEC; i < BK * BN; i += ITEMS * VEC) {
            const size_t column = first_column + i % BN;
            const size_t k = first + i / BN;
            tile_b[i / BN][i % BN / VEC] = column < N && k < K ? BT_vectors[(k * N + column) / VEC] : zero;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++) {
            const local REAL* row_of_a = (const local REAL*)tile_a[k];
            const local REAL* row_of_b = (const local REAL*)tile_b[k];
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
