// Exact products on Hopper's CUDA cores: TMA loads, eight warps only multiply, 16 x 8 sums in registers chosen by their banks.
//
// BM, BN         the tile of sums that a work-group computes: of C, or of all products of the real and imaginary parts of
//                complex rows and columns, which lie side by side across k and are rows and columns of sums by themselves
// SLICED_K       slices of every stage's k. Each is summed by its own group of warps, and the sums are added up at the end, in the
//                stages' memory. So above 1, a work-group has a single tile, or a part of one
// DEPTH, BK      k of a slice in a stage, and of the stage
// STAGES         stages that TMA may be ahead
// GROUP_M        rows of tiles of a swizzle group: work-groups that run at a time then share panels in the L2 cache
// TRANSPOSE_A, TRANSPOSE_B 1: neighbours in memory are neighbours along k. Such an operand is transposed in local memory, since a
//                work-item's operands are rows of 16 bytes across k; 0: they lie so in memory
// A_BATCHED, B_BATCHED  0: all matrices of a batch share the operand
// C_VEC          elements of one store; above 1, c_column is 1
// STREAM_K       1 if the tiles of the tail wave are split among work-groups, 0 if no tile is: then there is no code for it
// WITH_C         1 if beta is not 0
//
// Why this order. A quarter of an SM starts one multiply-add per clock and reads two registers for it in that
// time, one with an even number and one with an odd number; what the instruction before has read in the same place it need
// not read again. So an element of A stays while the columns are walked to and fro, and a sum should have an odd register
// where its element of B has an even one. Registers are the compiler's business, but four numbers that are stored together
// get four in a row: hence sums that slices or work-groups exchange leave in exchanged pairs. On an H200 both together brought the
// multiply-adds that are started per clock from 0.71 to 0.84 (docs/notebook/fp32-hopper.md).
//
// A work-group computes one part of the product after the other (scheduler). Eight warps, the consumers, do nothing but
// multiply and store. Of four more, one has TMA load stages, as many ahead as there are, and does not stop at the end of a
// tile. The other three transpose operands that lie along k, into the stage's second part. Barriers of a stage: `full`,
// when TMA has written it; `transposed`; `empty`, when the consumers have read it. Tiles of the tail wave are split among
// work-groups, which fix them up together at the end (fixup.cl).
//
// CONSUMER_REGISTERS, PRODUCER_REGISTERS  what setmaxnreg gives the work-items of the two kinds

#include "../elements.cl"
#include "../epilogue.cl"

#define SKIP_DIVISIONS 1
#include "../scheduler.cl"

#define TM 16                     // rows and columns of sums of a work-item
#define TN 8
#define BOX_DEPTH 16              // k that TMA loads of an operand that is transposed: rows of 64 bytes
#define BOXES (BK / BOX_DEPTH)
#define WARP_BM (4 * TM)          // a warp's tile: 4 x 8 work-items
#define WARP_BN (8 * TN)
#define SLICE_WARPS (BM / WARP_BM * (BN / WARP_BN))
#define SLICE_ITEMS (32 * SLICE_WARPS)
#define WARPS (SLICE_WARPS * SLICED_K)
#define ITEMS (32 * WARPS)        // that multiply
#define TRANSPOSERS 3             // warps
#define STEP_M (BM / (TM / 4))    // rows between a work-item's fragments of four
#define STEP_N (BN / (TN / 4))
#define MOST_ROWS 256             // of a box
#define A_SIDE (BM < MOST_ROWS ? BM : MOST_ROWS)  // rows of one block of A: a stage's are BM / A_SIDE blocks of BK * A_SIDE
#define B_SIDE (BN < MOST_ROWS ? BN : MOST_ROWS)
#define A_ELEMENTS (BM * BK)
#define B_ELEMENTS (BN * BK)
// Where row `row` of the first k lies in a stage's blocks of `side` rows.
#define PLACE(row, side) ((row) / (side) * (side) * BK + (row) % (side))
#define LOADED_ELEMENTS (A_ELEMENTS + B_ELEMENTS)
#define TRANSPOSED_B (LOADED_ELEMENTS + TRANSPOSE_A * A_ELEMENTS)  // where what is transposed of B begins in a stage
#define STAGE_ELEMENTS (TRANSPOSED_B + TRANSPOSE_B * B_ELEMENTS)
#define STAGE_BYTES (4 * STAGE_ELEMENTS)
#define TRANSPOSE (TRANSPOSE_A || TRANSPOSE_B)
#define RESULT_ROWS (TM / PARTS)  // that a work-item's sums become: two of parts are one of complex numbers
#define ROWS (RESULT_ROWS / SLICED_K)  // of them, that it finishes
#define FRAGMENTS (RESULT_ROWS * TN / 4)  // of a work-item's results
#define OWN_FRAGMENTS (ROWS * TN / 4)
#define PARTIAL_ELEMENTS (BM * BN / PARTS)   // numbers of a tile of results
#define TOGETHER (C_VEC * PARTS > 1 ? 1 : ROWS < 4 ? ROWS : 4)  // rows of a work-item's results that are stored at a time
#define LINE (TOGETHER * 32 * TN)  // sums in such rows of a warp's work-items
#define AT_ONCE 4                  // fragments of partial tiles that are added up together
#define FRAGMENT JOIN(COMPONENT, 4)

#include "../pipeline.cl"
#include "store.cl"
#include "fixup.cl"

#ifndef EMULATED  // the producer
// Has TMA load `blocks` blocks of `side` rows of an operand, by boxes that are transposed or whole.
INLINE void load_blocks(const uint to, const uint full, const __global ulong* map, const int first, const int blocks,
                         const int side, const int transposed, const int batch, const int k)
{
#pragma unroll
    for (int block = 0; block < blocks; block++)
#pragma unroll
        for (int box = 0; box < (transposed ? BOXES : 1); box++) {
            const int row = first + block * side, depth = k + box * BOX_DEPTH;
            cp_async_bulk_tensor_3d(to + (block * BK + box * BOX_DEPTH) * side * 4, map, transposed ? depth : row,
                                    transposed ? row : depth, batch, full);
        }
}

// Has TMA load the stage of A and B from `k` on.
INLINE void load_stage(const Ring ring, const int stage, const uint parity, const __global ulong* map_a,
                        const __global ulong* map_b, const int2 tile, const int batch, const int k)
{
    const uint full = begin_stage(ring, stage, parity, 4 * LOADED_ELEMENTS), to = ring.stages + stage * STAGE_BYTES;
    load_blocks(to, full, map_a, tile.x, BM / A_SIDE, A_SIDE, TRANSPOSE_A, A_BATCHED * batch, k);
    load_blocks(to + A_ELEMENTS * 4, full, map_b, tile.y, BN / B_SIDE, B_SIDE, TRANSPOSE_B, B_BATCHED * batch, k);
}

#include "transpose.cl"
#endif

// The slice's k of a stage.
INLINE void multiply(COMPONENT sum[TM][TN], const local COMPONENT* a_row, const local COMPONENT* b_row)
{
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
        COMPONENT a[TM], b[TN];
#pragma unroll
        for (int i = 0; i < TM / 4; i++)
            vstore4(*(const local FRAGMENT*)(a_row + k * A_SIDE + PLACE(i * STEP_M, A_SIDE)), i, a);
#pragma unroll
        for (int j = 0; j < TN / 4; j++)
            vstore4(*(const local FRAGMENT*)(b_row + k * B_SIDE + PLACE(j * STEP_N, B_SIDE)), j, b);
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int step = 0; step < TN; step++) {
                const int j = i % 2 ? TN - 1 - step : step;
                sum[i][j] = MULTIPLY_ADD(a[i], b[j], sum[i][j]);
            }
    }
}

#ifndef EMULATED
// Three warps transpose the operands that lie along k, stage after stage.
INLINE void transpose_stages(const Ring ring, local COMPONENT* stages, const int warp, const int lane,
                     const int steps, const int whole, const int tiles)
{
    Work work = before_work(whole, tiles, steps);
    int stage = 0;
    uint parity = 0;
    next_work(&work, whole, tiles, steps);
    while (work.first < work.last) {
#pragma unroll 1
        for (int step = work.first; step < work.last; step++) {
            local COMPONENT* own = stages + stage * STAGE_ELEMENTS;
            mbarrier_wait(ring.full + 8 * stage, parity);
#pragma unroll
            for (int row = 0; row < TRANSPOSE_A * BM; row += A_SIDE)
                transpose(own + row * BK, own + LOADED_ELEMENTS + row * BK, A_SIDE, warp, lane);
#pragma unroll
            for (int row = 0; row < TRANSPOSE_B * BN; row += B_SIDE)
                transpose(own + A_ELEMENTS + row * BK, own + TRANSPOSED_B + row * BK, B_SIDE, warp, lane);
            bar_warp_sync();
            if (lane == 0)
                mbarrier_arrive(ring.transposed + 8 * stage);
            NEXT_STAGE(stage, parity)
        }
        next_work(&work, whole, tiles, steps);
    }
}

#endif

#ifdef EMULATED
#define GROUP_ITEMS ITEMS  // consumers also load
#else
#define GROUP_ITEMS ITEMS + 128
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1)))
void product(const int M, const int N, const int K, const ACC alpha, const ACC beta, const int whole, const int tiles,
             __global ulong* map_a, const __global STORED* A, const long a_offset,
             __global ulong* map_b, const __global STORED* B, const long b_offset,
             __global RESULT* C, const long c_offset, const long c_row, const long c_column, const long c_batch,
             const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
             __global COMPONENT* partial, volatile __global int* semaphores)
{
    __local COMPONENT stages[STAGES * STAGE_ELEMENTS] __attribute__((aligned(1024)));
    __local ulong barriers[3 * STAGES] __attribute__((aligned(16)));
    __local COMPONENT lines[C_VEC * PARTS == 1 ? WARPS * LINE : 1] __attribute__((aligned(16)));

    const int item = get_local_id(0), lane = item % 32, warp = shfl_sync_idx(item / 32, 0);
    const int rows = M * PARTS, columns = N * PARTS, steps = (K + BK - 1) / BK;
    const Ring ring = ring_at(local_address(stages), local_address(barriers));

    if (item == ITEMS)
        tensormap_address(map_a, (ulong)(A + a_offset * PARTS));
    if (item == ITEMS + 32)
        tensormap_address(map_b, (ulong)(B + b_offset * PARTS));
    if (item == 0) {
        init_barriers(ring, WARPS);
        fence_mbarrier_init();
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (warp >= WARPS) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
#ifndef EMULATED
        if (item == ITEMS)
            produce(ring, map_a, map_b, rows, columns, steps, whole, tiles, 0);
        if (TRANSPOSE && warp > WARPS)
            transpose_stages(ring, stages, warp - WARPS - 1, lane, steps, whole, tiles);
#endif
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        const int slice = warp / SLICE_WARPS, block = warp % SLICE_WARPS, area = tiles_of_matrix(rows, columns);
        const Target target = {M, N, alpha, beta, C + c_offset * PARTS, c_row, c_column, c_batch, bias + bias_offset * PARTS,
                               bias_row, bias_column};
        // 4 x 8 work-items of a warp: those side by side hold neighbouring columns.
        const int2 corner = MAKE2(int, block / (BN / WARP_BN) * 4 + lane / 8, block % (BN / WARP_BN) * 8 + lane % 8) * 4;
        const int a_place = (TRANSPOSE_A ? LOADED_ELEMENTS : 0) + slice * DEPTH * A_SIDE + corner.x;
        const int b_place = (TRANSPOSE_B ? TRANSPOSED_B : A_ELEMENTS) + slice * DEPTH * B_SIDE + corner.y;
        const uint ready = TRANSPOSE ? ring.transposed : ring.full;
        Work work = before_work(whole, tiles, steps);
        int stage = 0;
        uint parity = 0;

        COMPONENT sum[TM][TN];
#pragma unroll
        for (int i = 0; i < TM * TN; i++)
            sum[i / TN][i % TN] = 0;
        next_work(&work, whole, tiles, steps);
#ifdef EMULATED_FIXUP  // one launch stores partial tiles, the next fixes up: groups may run one after another
        work.last = work.first;
#endif
        while (work.first < work.last) {
#pragma unroll 1
            for (int step = work.first; step < work.last; step++) {
                const local COMPONENT* own = stages + stage * STAGE_ELEMENTS;
                mbarrier_wait(ready + 8 * stage, parity);
                multiply(sum, own + a_place, own + b_place);
                fence_proxy_async();  // waits for reads in flight, as the arrival does not
                bar_warp_sync();
                if (lane == 0)
                    mbarrier_arrive(ring.empty + 8 * stage);
                NEXT_STAGE(stage, parity)
            }
#if PARTS == 2
            make_complex(sum);
#endif
#if SLICED_K > 1
            reduce_slices(sum, stages, slice);
#endif
#if STREAM_K
            const int complete = work.last - work.first == steps, tile = work.number - whole;
            if (!complete)
                store_exchanged(sum, slice, partial + (size_t)(get_group_id(0) + tile) * PARTIAL_ELEMENTS, semaphores + tile);
#else
            const int complete = 1;
#endif
            const int2 first = (tile_coordinates(work.number % area, rows, columns) * MAKE2(int, BM, BN) + corner) / PARTS;
#pragma unroll
            for (int i = 0; i < RESULT_ROWS; i += TOGETHER)
                if (complete && i / ROWS == slice)
                    store_rows(sum + i, i, target, first, work.number / area, lines + warp / ROW_WARPS * (ROW_WARPS * LINE));
#pragma unroll
            for (int i = 0; i < TM * TN; i++)
                sum[i / TN][i % TN] = 0;
            next_work(&work, whole, tiles, steps);
        }
#if STREAM_K && !defined(EMULATED_PARTIALS)
        if (whole < tiles)
            fix_up(partial, semaphores, target, slice, corner, steps, whole, tiles);
#endif
    }
}
