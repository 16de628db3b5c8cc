// A warp multiplies 16 x 16 by 16 x 8 with one instruction: the tensor cores do the arithmetic.
//
// BM, BN, BK        the tile of C that a work-group computes, and the depth of its tiles of A and B
// WARPS_M, WARPS_N  how its warps lie in that tile
//
// mma.sync spreads its matrices over the registers of a warp: with lane = 4 * g + q, a work-item holds two neighbours
// in k of A's rows g and g + 8, at k = 2q and 2q + 8, and of B's column g. They are one word each in the tiles, since A
// and B lie along K. Rows of 64 bytes put every second row into the same banks: reading them takes four passes.

#include "result.cl"

#define ITEMS (32 * WARPS_M * WARPS_N)
#define TILES_M (BM / WARPS_M / 16)  // matrices of 16 x 8 that a warp computes
#define TILES_N (BN / WARPS_N / 8)

// Eight elements of a row of `from`, beginning at element number `first`.
#define LOAD8(tile, row, k, from, first) *(__local uint4*)&tile[row][k] = *(const __global uint4*)(from + (first))

#define WORD(tile, row, k) (*(const __local uint*)&tile[row][k])

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const __global half* A, const __global half* B, __global RESULT* C)
{
    __local ushort tile_a[BM][BK] __attribute__((aligned(128)));
    __local ushort tile_b[BN][BK] __attribute__((aligned(128)));

    const int item = get_local_id(0), warp = item / 32, g = item % 32 / 4, q = item % 4;
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
            uint a[TILES_M][4], b[TILES_N][2];
#pragma unroll
            for (int m = 0; m < TILES_M; m++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    a[m][i] = WORD(tile_a, warp_row + m * 16 + g + i % 2 * 8, k + 2 * q + i / 2 * 8);
#pragma unroll
            for (int n = 0; n < TILES_N; n++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    b[n][i] = WORD(tile_b, warp_column + n * 8 + g, k + 2 * q + i * 8);
#pragma unroll
            for (int m = 0; m < TILES_M; m++)
#pragma unroll
                for (int n = 0; n < TILES_N; n++)
                    mma_sync_m16n8k16_f32_f16(sum[m][n], a[m], b[n]);
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
