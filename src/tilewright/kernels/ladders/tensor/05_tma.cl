// One work-item asks TMA for whole tiles, so the others spend no instructions on loads.
//
// BM, BN, BK        the tile of C that a work-group computes, and the depth of its tiles of A and B: BK is 32
// WARPS_M, WARPS_N  how its warps lie in that tile
// STAGES            tiles of each operand in local memory: one is multiplied, the others are being filled
//
// A tensor map tells TMA how a matrix lies in memory and how large a tile is; rows of 64 bytes arrive with
// their pieces permuted as PIECE wants them. No work-item computes addresses or copies any more: they wait until the
// phase of the tile's barrier is over, whose parity turns with each round through the stages.

#include "result.cl"

#define ITEMS (32 * WARPS_M * WARPS_N)
#define TILES_M (BM / WARPS_M / 16)  // matrices of 16 x 8 that a warp computes
#define TILES_N (BN / WARPS_N / 8)

// The element of a tile from which eight lie together: column k of row `row`.
#define PIECE(tile, row, k) (&tile[row][(k) ^ (row) / 2 % 4 * 8])

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const __global half* A, const __global half* B, __global RESULT* C,
          __global ulong* map_a, __global ulong* map_b)
{
    __local ushort tile_a[STAGES][BM][BK] __attribute__((aligned(1024)));
    __local ushort tile_b[STAGES][BN][BK] __attribute__((aligned(1024)));
    __local ulong full[STAGES];

    const int item = get_local_id(0), warp = item / 32, g = item % 32 / 4, q = item % 4, lane = item % 32;
    const size_t first_row = get_group_id(1) * BM, first_column = get_group_id(0) * BN;
    const int warp_row = warp / WARPS_N * TILES_M * 16, warp_column = warp % WARPS_N * TILES_N * 8;

    if (item == 0) {
        for (int stage = 0; stage < STAGES; stage++)
            mbarrier_init(local_address(&full[stage]), 1);
        fence_mbarrier_init();
        tensormap_address(map_a, (ulong)A);
        tensormap_address(map_b, (ulong)B);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float sum[TILES_M][TILES_N][4] = {{{0}}};
    for (int next = 0; next < K + (STAGES - 1) * BK; next += BK) {  // k of the tiles that TMA loads in this step
        const int first = next - (STAGES - 1) * BK, stage = first / BK % STAGES;
        if (first >= 0) {
            mbarrier_wait(local_address(&full[stage]), first / BK / STAGES % 2);
            barrier(CLK_LOCAL_MEM_FENCE);  // all reads of the tile before are done
        }
        if (next < K && item == 0) {
            const int free = next / BK % STAGES;
            const uint arrival = local_address(&full[free]);
            mbarrier_arrive_expect_tx(arrival, (BM + BN) * BK * 2);
            cp_async_bulk_tensor_2d(local_address(tile_a[free]), map_a, next, first_row, arrival);
            cp_async_bulk_tensor_2d(local_address(tile_b[free]), map_b, next, first_column, arrival);
        }
        if (first < 0)
            continue;

#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            uint a[TILES_M][4], b[TILES_N][2];
#pragma unroll
            for (int m = 0; m < TILES_M; m++)
                ldmatrix_x4(a[m], PIECE(tile_a[stage], warp_row + m * 16 + lane % 16, k + lane / 16 * 8));
#pragma unroll
            for (int n = 0; n < TILES_N; n += 2)
                ldmatrix_x4(b[n],
                            PIECE(tile_b[stage], warp_column + n * 8 + lane % 8 + lane / 16 * 8, k + lane / 8 % 2 * 8));
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
