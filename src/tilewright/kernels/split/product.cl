// A product of floats by tensor cores: three products of halves, the large one promoted to ordinary sums every stage.
//
// BM, BN      the tile of C that a work-group computes at a time: two warpgroups multiply 64 rows each
// BK          elements of k of a stage: 128 bytes, the width of the swizzle
// STAGES      tiles in local memory, fetched ahead
// GROUP_M     rows of tiles that are computed at a time, so that they share what they read in cache
//
// A tensor core cuts off what does not fit when it adds, so that sums of many products drift. The sums of one stage are
// therefore added to floats that are rounded as usual. (Once in 16 k is worse than once in 64: more roundings than drift.)
// What the low halves give is 2^-11 as large, and may drift.
//
// A work-group computes tiles number g, g + groups, ...: while its consumers finish one, its producer fetches the next.
// The rows of low halves follow those of the high ones, so that a tile at the edge of C reads some of the wrong kind: they
// belong to rows and columns that C does not have. Elements whose vectors halves cannot hold are left to exact.cl; see cut.cl.

#include "../gemm/elements.cl"
#include "../gemm/epilogue.cl"
#include "cut.cl"

#define LINE 128
#define A_TILE (BM * LINE)
#define B_TILE (BN * LINE)
#define STAGE (2 * A_TILE + 2 * B_TILE)
#define ITEMS 384
#define SUMS (BN / 2)
#define K_STEPS 4  // products of 16 in a line

// The first row and column of C, and the matrix of the batch, of tile number `tile`: down GROUP_M rows of tiles, then the
// next column of them.
INLINE int3 find_place(const int M, const int N, const int tile)
{
    const int tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN, area = tiles_m * tiles_n;
    const int band = GROUP_M * tiles_n, number = tile % area;
    const int first = number / band * GROUP_M, height = min(GROUP_M, tiles_m - first);
    return (int3)((first + number % band % height) * BM, number % band / height * BN, tile / area);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void product(const int M, const int N, const int K, const int tiles, const ACC alpha, const ACC beta,
             __global ulong* map_a, __global ulong* map_b, const __global uint* halves_a, const __global uint* halves_b,
             const __global int2* ranges_a, const int a_moves, const __global int2* ranges_b, const int b_moves,
             __global RESULT* C, const long c_offset, const long c_row, const long c_column, const long c_batch,
             const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column)
{
    __local uchar local_tiles[STAGES * STAGE] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES] __attribute__((aligned(16)));

    const int item = get_local_id(0), warpgroup = item / 128, steps = (K + BK - 1) / BK;
    const uint stages = local_address(local_tiles), full = local_address(barriers), empty = full + 8 * STAGES;
    if (item == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(full + 8 * stage, 1);
            mbarrier_init(empty + 8 * stage, 2);
        }
        fence_mbarrier_init();
        tensormap_address(map_a, (ulong)halves_a);
        tensormap_address(map_b, (ulong)halves_b);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    int stage = 0;
    uint parity = 0;
    if (warpgroup == 0) {
        setmaxnreg_dec(24);
        if (item == 0)
            for (int tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
                const int3 place = find_place(M, N, tile);
                const int a_batch = place.z * a_moves, b_batch = place.z * b_moves;
                for (int k = 0; k < K; k += BK) {
                    const uint ready = full + 8 * stage, to = stages + stage * STAGE;
                    mbarrier_wait(empty + 8 * stage, parity ^ 1);
                    mbarrier_arrive_expect_tx(ready, STAGE);
                    cp_async_bulk_tensor_3d(to, map_a, k, place.x, a_batch, ready);
                    cp_async_bulk_tensor_3d(to + A_TILE, map_a, k, M + place.x, a_batch, ready);
                    cp_async_bulk_tensor_3d(to + 2 * A_TILE, map_b, k, place.y, b_batch, ready);
                    cp_async_bulk_tensor_3d(to + 2 * A_TILE + B_TILE, map_b, k, N + place.y, b_batch, ready);
                    stage = stage + 1 == STAGES ? 0 : stage + 1;
                    parity ^= stage == 0;
                }
            }
        return;
    }

    setmaxnreg_inc(240);
    const int lane = item % 32, row = (warpgroup - 1) * 64 + item % 128 / 32 * 16 + lane / 4;
    for (int tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        float sums[SUMS], high_sums[SUMS], low_sums[SUMS];
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            sums[i] = 0;
        uint last = 0;
        for (int step = 0; step < steps; step++) {
            const uint a = stages + stage * STAGE + (warpgroup - 1) * 64 * LINE, b = stages + stage * STAGE + 2 * A_TILE;
            const ulong a_high = wgmma_descriptor(a, 0, 8 * LINE), a_low = wgmma_descriptor(a + A_TILE, 0, 8 * LINE);
            const ulong b_high = wgmma_descriptor(b, 0, 8 * LINE), b_low = wgmma_descriptor(b + B_TILE, 0, 8 * LINE);
            mbarrier_wait(full + 8 * stage, parity);
            wgmma_fence();
#pragma unroll
            for (int part = 0; part < K_STEPS; part++)
                wgmma_f32_f16(BN, high_sums, a_high + 2 * part, b_high + 2 * part, part > 0, 0, 0);
            wgmma_commit_group();
#pragma unroll
            for (int part = 0; part < K_STEPS; part++) {
                wgmma_f32_f16(BN, low_sums, a_high + 2 * part, b_low + 2 * part, part > 0 || step > 0, 0, 0);
                wgmma_f32_f16(BN, low_sums, a_low + 2 * part, b_high + 2 * part, 1, 0, 0);
            }
            wgmma_commit_group();
            wgmma_wait_group_1();
            wgmma_ready(BN, "+f", high_sums);
            if (step > 0 && item % 128 == 0)
                mbarrier_arrive(empty + 8 * last);
#pragma unroll
            for (int i = 0; i < SUMS; i++)
                sums[i] += high_sums[i];
            last = stage;
            stage = stage + 1 == STAGES ? 0 : stage + 1;
            parity ^= stage == 0;
        }
        wgmma_wait_group_0();
        wgmma_ready(BN, "+f", low_sums);
        if (item % 128 == 0)
            mbarrier_arrive(empty + 8 * last);

        const int3 place = find_place(M, N, tile);
        const __global int2* a_ranges = ranges_a + (long)place.z * a_moves * M;
        const __global int2* b_ranges = ranges_b + (long)place.z * b_moves * N;
        __global RESULT* matrix = C + c_offset + place.z * c_batch;
        int2 a_both[2];
        float a_scales[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            a_both[i] = a_ranges[min(place.x + row + 8 * i, M - 1)];
            a_scales[i] = power_of_two(-a_both[i].x);
        }
#pragma unroll
        for (int i = 0; i < SUMS; i += C_VEC) {
            const int m = place.x + row + i / 2 % 2 * 8, n = place.y + i / 4 * 8 + lane % 4 * 2 + i % 2;
            if (m >= M || n >= N)
                continue;
            const int2 a_range = a_both[i / 2 % 2];
            const float a_scale = a_scales[i / 2 % 2];
            float values[C_VEC];
            int left = 0;
#pragma unroll
            for (int j = 0; j < C_VEC; j++) {
                const int2 b_range = b_ranges[n + j];
                left += needs_floats(a_range, b_range);
                // The smaller factor first: what falls below the floats then is far below the result's rounding.
                const float b_scale = power_of_two(-b_range.x), value = fma(low_sums[i + j], power_of_two(-LOW_BITS), sums[i + j]);
                values[j] = value * min(a_scale, b_scale) * max(a_scale, b_scale);
            }
            if (!left)
                finish(values, alpha, beta, matrix + m * c_row + n * c_column,
                       bias + bias_offset + m * bias_row + n * bias_column, bias_column);
        }
    }
}
