// `wide_loads` with warp shuffles: one local read of B instead of TN (NVIDIA only).
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles
// TM, TN      rows and columns of C that a work-item computes, BM / TM and BN / TN apart
// VEC         elements of one load from global memory: 4, as ld.global.nc.v4 loads 16 bytes
//
// (prelude/nvidia.cl has both as PTX; in CUDA they are __ldg and __shfl_sync, in prelude/cuda.h.)
//
// Loads from global memory are read-only ones: ld.global.nc promises that these words are not written while the kernel
// runs, which opens the texture cache's path. shfl.sync.idx reads a register of another work-item of the same warp: 32
// work-items that run in step. The ITEMS_M work-items of a warp that compute the same columns all need the same TN
// values of tile_b. Each reads one of them, and gets the others from its neighbours: one read of local memory instead
// of TN. Measure before you believe in it: a shuffle is served by the unit that serves local memory, and the reads that
// it replaces were broadcasts.

#define ITEMS_M (BM / TM)
#define ITEMS_N (BN / TN)
#define ITEMS (ITEMS_M * ITEMS_N)

#define BITS as_uint  // the instructions move 32 bits of whatever type
#define FROM_BITS JOIN(as_, REAL)
#define VECTOR_FROM_BITS JOIN(as_, VECTOR(VEC))

typedef VECTOR(VEC) vector;

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* BT, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int item = item_n * ITEMS_M + item_m;
    const size_t first_row = get_group_id(0) * BM;
    const size_t first_column = get_group_id(1) * BN;
    const uint first_lane = item % 32 / ITEMS_M * ITEMS_M;  // of the work-items with this item_n
    const vector zero = SPLAT(VEC, 0);

    __local vector tile_a[BK][BM / VEC];
    __local vector tile_b[BK][BN / VEC];
    REAL sum[TN][TM] = {{0}};
    for (size_t first = 0; first < K; first += BK) {
        for (int i = item * VEC; i < BK * BM; i += ITEMS * VEC) {
            const size_t row = first_row + i % BM;
            const size_t k = first + i / BM;
            vector a = zero;
            if (row < M && k < K)
                a = VECTOR_FROM_BITS(ld_global_nc_v4((const __global uint*)(A + k * M + row)));
            tile_a[i / BM][i % BM / VEC] = a;
        }
        for (int i = item * VEC; i < BK * BN; i += ITEMS * VEC) {
            const size_t column = first_column + i % BN;
            const size_t k = first + i / BN;
            vector b = zero;
            if (column < N && k < K)
                b = VECTOR_FROM_BITS(ld_global_nc_v4((const __global uint*)(BT + k * N + column)));
            tile_b[i / BN][i % BN / VEC] = b;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++) {
            const local REAL* row_of_a = (const local REAL*)tile_a[k];
            const local REAL* row_of_b = (const local REAL*)tile_b[k];
            REAL b[TN];
            const uint one_of_b = BITS(row_of_b[item_n + item_m % TN * ITEMS_N]);
#pragma unroll
            for (int n = 0; n < TN; n++)
                b[n] = FROM_BITS(shfl_sync_idx(one_of_b, first_lane + n));
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
