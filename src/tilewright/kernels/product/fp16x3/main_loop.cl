// A float32 product on tensor cores: three fp16 products, the large one added to float32 sums every stage.
//
// BM, BN      the tile of C that a work-group computes at a time: two warpgroups multiply 64 rows each
// BK          elements of k of a stage: 128 bytes, the width of the swizzle
// STAGES      pipeline stages in local memory
// GROUP_M     rows of tiles of a swizzle group: work-groups that run at a time then share panels in the L2 cache
//
// A tensor core cuts off what does not fit when it adds, so that sums of many products drift. The sums of one stage are
// therefore added to floats that are rounded as usual. (Once in 16 k is worse than once in 64: more roundings than drift.)
// What the low parts give is 2^-11 as large, and may drift.
//
// WITH_ALPHA  1 if alpha is not 1
// WITH_C      1 if beta is not 0
//
// A work-group computes tiles number g, g + groups, ...: while its consumers finish one, its producer loads the next.
// The rows of low parts follow those of the high ones, so that a tile at the edge of C reads some of the wrong kind: they
// belong to rows and columns that C does not have. Elements whose vectors fp16 cannot hold are left; see split.cl. In the
// end the work-group multiplies them as floats; see fallback.cl.

#include "../elements.cl"
#include "../epilogue.cl"
#include "split.cl"

#define EXACT_SYNC bar_sync(3, EXACT_ITEMS)
#include "fallback.cl"

#define LINE 128
#define A_TILE (BM * LINE)
#define B_TILE (BN * LINE)
#define STAGE_BYTES (2 * A_TILE + 2 * B_TILE)
#define ITEMS 384
#define SUMS (BN / 2)
#define K_STEPS 4  // products of 16 in a line

#include "../scheduler.cl"
#include "../pipeline.cl"

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void product(const int M, const int N, const int K, const int tiles, const ACC alpha, const ACC beta,
             __global ulong* map_a, __global ulong* map_b, const __global uint* halves_a, const __global uint* halves_b,
             const __global int2* ranges_a, const int a_batched, const __global int2* ranges_b, const int b_batched,
             const __global float* A, const long a_offset, const long a_row, const long a_column, const long a_batch,
             const __global float* B, const long b_offset, const long b_row, const long b_column, const long b_batch,
             __global RESULT* C, const long c_offset, const long c_row, const long c_column, const long c_batch,
             const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column)
{
    __local uchar local_tiles[STAGES * STAGE_BYTES] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES] __attribute__((aligned(16)));
    __local float scales[2][BN];
    __local int marks[2][BN];
    __local int small_tile[2], shared;

    const int item = get_local_id(0), warpgroup = item / 128, steps = (K + BK - 1) / BK;
    const Ring ring = ring_at(local_address(local_tiles), local_address(barriers));
    if (item == 0) {
        init_barriers(ring, 2);
        small_tile[0] = small_tile[1] = 0;
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
                const int4 place = tile_origin(tile, M, N);
                const int a_batch = place.z * a_batched, b_batch = place.z * b_batched;
                for (int k = 0; k < K; k += BK) {
                    const uint to = ring.stages + stage * STAGE_BYTES, ready = begin_stage(ring, stage, parity ^ 1, STAGE_BYTES);
                    cp_async_bulk_tensor_3d(to, map_a, k, place.x, a_batch, ready);
                    cp_async_bulk_tensor_3d(to + A_TILE, map_a, k, M + place.x, a_batch, ready);
                    cp_async_bulk_tensor_3d(to + 2 * A_TILE, map_b, k, place.y, b_batch, ready);
                    cp_async_bulk_tensor_3d(to + 2 * A_TILE + B_TILE, map_b, k, N + place.y, b_batch, ready);
                    NEXT_STAGE(stage, parity)
                }
            }
        return;
    }

    setmaxnreg_inc(240);
    const int consumer = warpgroup - 1, own = item % 128, lane = item % 32, row = consumer * 64 + own / 32 * 16 + lane / 4;
    int any_left = 0;
    for (int tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const int4 place = tile_origin(tile, M, N);
        const __global int2* a_ranges = ranges_a + (long)place.z * a_batched * M + place.x;
        const __global int2* b_ranges = ranges_b + (long)place.z * b_batched * N + place.y;
        const int2 own_column = b_ranges[min(own, N - 1 - place.y)];
        const int2 rows[2] = {a_ranges[min(row, M - 1 - place.x)], a_ranges[min(row + 8, M - 1 - place.x)]};
        float sums[SUMS];
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            sums[i] = 0;
        uint last = 0;
        float high_sums[SUMS], low_sums[SUMS];
        for (int step = 0; step < steps; step++) {
            const uint a = ring.stages + stage * STAGE_BYTES + consumer * 64 * LINE, b = ring.stages + stage * STAGE_BYTES + 2 * A_TILE;
            const ulong a_high = wgmma_descriptor(a, 0, 8 * LINE), a_low = wgmma_descriptor(a + A_TILE, 0, 8 * LINE);
            const ulong b_high = wgmma_descriptor(b, 0, 8 * LINE), b_low = wgmma_descriptor(b + B_TILE, 0, 8 * LINE);
            mbarrier_wait(ring.full + 8 * stage, parity);
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
            if (step > 0 && own == 0)
                mbarrier_arrive(ring.empty + 8 * last);
            wgmma_ready(BN, "+f", high_sums);
#pragma unroll
            for (int i = 0; i < SUMS; i++)
                sums[i] += high_sums[i];
            last = stage;
            NEXT_STAGE(stage, parity)
        }
        wgmma_wait_group_0();
        wgmma_ready(BN, "+f", low_sums);
        if (own == 0)
            mbarrier_arrive(ring.empty + 8 * last);
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            sums[i] = fma(low_sums[i], power_of_two(-LOW_BITS), sums[i]);

        // Each work-item has the range of one column, and needs those of a quarter of them.
        bar_sync(1 + consumer, 128);
        scales[consumer][own] = power_of_two(-own_column.x);
        marks[consumer][own] = own_column.y;
        if ((own_column.y | rows[0].y | rows[1].y) & 0xff)
            small_tile[consumer] = tile + 1;
        bar_sync(1 + consumer, 128);
        const int column = lane % 4 * 2, height = M - place.x - row, width = N - place.y - column;
        const float row_scales[2] = {power_of_two(-rows[0].x), power_of_two(-rows[1].x)};
        const long m = place.x + row, n = place.y + column, c_step = C_VEC > 1 ? 1 : c_column;
        __global RESULT* c = C + c_offset + place.z * c_batch + m * c_row + n * c_column;
        const __global RESULT* first_bias = bias + bias_offset + m * bias_row + n * bias_column;
#pragma unroll
        for (int i = 0; i < SUMS; i += C_VEC) {
            const int down = i / 2 % 2 * 8, across = i / 4 * 8 + i % 2;
            if (down >= height || across >= width)
                continue;
            float values[C_VEC];
            int left = 0;
#pragma unroll
            for (int j = 0; j < C_VEC; j++) {
                // The smaller factor first: what falls below the floats then is far below the result's rounding.
                const float a_scale = row_scales[i / 2 % 2], b_scale = scales[consumer][column + across + j];
                values[j] = sums[i + j] * min(a_scale, b_scale) * max(a_scale, b_scale);
                if (WITH_C)
                    left |= needs_floats(rows[i / 2 % 2].y, marks[consumer][column + across + j]);
            }
            if (!left)  // else what C was is still wanted
                finish(values, WITH_ALPHA ? alpha : 1, WITH_C ? beta : 0, c + down * c_row + across * c_step,
                       first_bias + down * bias_row + across * bias_column, bias_column);
        }
        if (small_tile[consumer] == tile + 1)
#pragma unroll 1
            for (int i = 0; i < SUMS; i++) {
                const int down = i / 2 % 2 * 8, across = i / 4 * 8 + i % 2;
                if (down < height && across < width)
                    any_left |= needs_floats(down ? rows[1].y : rows[0].y, marks[consumer][column + across]);
            }
    }

    // What was left is computed with panels where the tiles of fp16 were, once both consumers are done with these.
    bar_sync(3, EXACT_ITEMS);
    if (item == 128)
        shared = 0;
    bar_sync(3, EXACT_ITEMS);
    if (any_left)
        shared = 1;
    bar_sync(3, EXACT_ITEMS);
    if (!shared)
        return;
    for (int number = get_group_id(0); number < tiles; number += get_num_groups(0)) {
        const int4 place = tile_origin(number, M, N);
        const int a_matrix = place.z * a_batched, b_matrix = place.z * b_batched;
        const Tile tile = {A + a_offset + place.z * a_batch + place.x * a_row, B + b_offset + place.z * b_batch + place.y * b_column,
                           C + c_offset + place.z * c_batch + place.x * c_row + place.y * c_column,
                           bias + bias_offset + place.x * bias_row + place.y * bias_column,
                           ranges_a + (long)a_matrix * M + place.x, ranges_b + (long)b_matrix * N + place.y,
                           min(BM, M - place.x), min(BN, N - place.y)};
        exact_tile(tile, item - 128, K, alpha, beta, a_row, a_column, b_row, b_column, c_row, c_column, bias_row, bias_column,
                   (local float*)local_tiles, &shared);
    }
}
