// A warp loads four 8 x 8 matrices with one instruction from swizzled tiles: no bank conflict.
//
// BM, BN, BK        the tile of C that a work-group computes, and the depth of its tiles of A and B: BK is 32
// WARPS_M, WARPS_N  how its warps lie in that tile
//
// ldmatrix takes one address from each work-item, of a row of 16 bytes, and hands the words out as mma.sync wants them:
// one instruction instead of four. Eight rows are read at a time, which must lie in different banks. Rows of 64 bytes
// repeat their banks with every second row: so in each pair of rows the four pieces of 16 bytes lie in another order
// (PIECE).

#include "result.cl"

#define ITEMS (32 * WARPS_M * WARPS_N)
#define TILES_M (BM / WARPS_M / 16)  // matrices of 16 x 8 that a warp computes
#define TILES_N (BN / WARPS_N / 8)

// The element of a tile from which eight lie together: column k of row `row`.
#define PIECE(tile, row, k) (&tile[row][(k) ^ (row) / 2 % 4 * 8])

// Eight elements of a row of `from`, beginning at element number `first`.
#define LOAD8(tile, row, k, from, first) *(__local uint4*)PIECE(tile, row, k) = *(const __global uint4*)(from + (first))

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const __global half* A, const __global half* B, __global RESULT* C)
{
    __local ushort tile_a[BM][BK] __attribute__((aligned(128)));
    __local ushort tile_b[BN][BK] __attribute__((aligned(128)));

    const int item = get_local_id(0), warp = item / 32, g = item % 32 / 4, q = item % 4, lane = item % 32;
    const size_t first_row = get_group_id(1) * BM, first_column = get_group_id(0) * BN;
    const int warp_row = warp / WARPS_N * TILES_M * 16, warp_column = warp % WARPS_N * TILES_N * 8;

    float sum[TILES_M][TILES_N][4] = {{{0}}};
    for (int first = 0; first < K; first += BK) {
        barrier(CLK_LOCAL_MEM_FENCE);  // all reads of the tiles are done
#pragma unroll
        for (int load = 0; load < BM * BK / 8 / ITEMS; load++) {
            const int row = (item + load * ITEMS) / (BK / 8), k = (item + load * ITEMS) % (BK / 8) * 8;
            LOAD8(tile_a, row, k, A, (first_row + row) * K + first + k);
        }
#pragma unroll
        for (int load = 0; load < BN * BK / 8 / ITEMS; load++) {
            const int row = (item + load * ITEMS) / (BK / 8), k = (item + load * ITEMS) % (BK / 8) * 8;
            LOAD8(tile_b, row, k, B, (first_column + row) * K + first + k);
        }
        barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            uint a[TILES_M][4], b[TILES_N / 2][4];
#pragma unroll
            for (int m = 0; m < TILES_M; m++)
                ldmatrix_x4(a[m], PIECE(tile_a, warp_row + m * 16 + lane % 16, k + lane / 16 * 8));
#pragma unroll
            for (int n = 0; n < TILES_N; n += 2)
                ldmatrix_x4(b[n / 2],
                            PIECE(tile_b, warp_column + n * 8 + lane % 8 + lane / 16 * 8, k + lane / 8 % 2 * 8));
#pragma unroll
            for (int m = 0; m < TILES_M; m++)
#pragma unroll
                for (int n = 0; n < TILES_N; n++)
                    mma_sync_m16n8k16_f32_f16(sum[m][n], a[m], b[n / 2] + n % 2 * 2);
        }
    }

#pragma unroll
    for (int m = 0; m < TILES_M; m++)
#pragma unroll
        for (int n = 0; n < TILES_N; n++)
#pragma unroll
            for (int i = 0; i < 4; i += 2) {
                const size_t row = first_row + warp_row + m * 16 + g + i / 2 * 8;
                const size_t column = first_column + warp_column + n * 8 + 2 * q;
                STORE2((float2)(sum[m][n][i], sum[m][n][i + 1]), C + row * N + column);
            }
}
