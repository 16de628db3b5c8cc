// Matrix products on Hopper's tensor cores: one warpgroup loads tiles by TMA, the others multiply them by wgmma.
//
// Tile and pipeline
// BM, BN          the tile of C that a work-group computes at a time
// BK              elements of k in a pipeline stage: 128 bytes, the width of the swizzle
// STAGES          pipeline stages in local memory
// CONSUMERS_M, CONSUMERS_N  warpgroups that multiply, down and across the tile
// BLOCKS          blocks of 64 rows of sums of one consumer
// WN              columns of sums of one consumer
// PRODUCER_REGISTERS, CONSUMER_REGISTERS  registers of a work-item, set by setmaxnreg; 0 where all have enough from the start
//
// Tile scheduler
// GROUP_M         rows of tiles of a swizzle group: work-groups that run at a time share their panels in the L2 cache
// ONE_WAVE        1 if each tile, or each part of one, has a work-group of its own
// TAIL_SPLIT      parts of k of each tile in the tail wave, a work-group for each part; 1 if these tiles are not split
// ODD_ROW_LEAD    above 0, C is a batch of two matrices, its even and its odd rows: odd rows are loaded from so many elements
//                 before k = 0 on, which begin on 32 bytes, and the maps give zeros there. 0 for any other C
// CLUSTER_M, CLUSTER_N  work-groups of a cluster, down and across C: 1 and 1, 2 and 1, or 1 and 2. Two need the same tile of B or of
//                 A: each loads half of it, and TMA writes that to both
//
// Operands
// MULTIPLY        the wgmma of the element types; KIND how its sums are bound, "+f" or "+r"
// REGISTER_A, REGISTER_B  1 if wgmma takes the operand from registers, as it must of 32-bit elements that lie across k. With B
//                 in registers the product is transposed: rows of sums are columns of C
// A_ACROSS, B_ACROSS  1 if the operand's lines in memory run across k
// B_LINE          bytes of a line of B in local memory: LINE, or half of it where a tile of B across k is not whole lines wide
// A_EDGED, B_EDGED  1 if fewer rows of the last tile are loaded, along k by a tensor map of their own: TMA takes several times
//                 as long for lines outside of A or B as for others
// PROMOTE         above 0, each stage's product is added to sums in float32, as tensor cores add 8-bit floats with few bits.
//                 The product comes in PROMOTE parts, which use the same registers one after another. 0 for other types
// PART            columns of one such part, or WN
//
// Epilogue
// WITH_ALPHA, WITH_C  1 if alpha is not 1; 1 if beta is not 0
// SCALED          1 if rows and columns of the product are scaled, by vectors or by one number each
// STORE_BY_TMA    1 if C goes through local memory and TMA
// MIRRORED        1 if C is symmetric, and each slab is stored with its mirror image
// STAGED          bytes that a work-item stores at a time where C goes through local memory without TMA: 16, or 4 if the
//                 leading dimension is unaligned; else 0
// RESULT_BYTES    bytes of an element of C
// C_VEC           elements of a row of C that a work-item stores at a time where C goes straight to memory
//
// While a work-group's consumers finish a tile, its producer loads the next. The maps give zeros outside of A and B, and
// cut off what lies outside of C. Of a tile a_rows and b_rows are loaded: fewer than BM or BN for small operands.

#include "../elements.cl"
#include "../epilogue.cl"

#define CONSUMERS (CONSUMERS_M * CONSUMERS_N)
#define ITEMS (128 * (1 + CONSUMERS))
#define LINE 128     // bytes of a line of a tile: the swizzle permutes its 8 chunks of 16
#define BLOCK (64 * LINE)
#define A_TILE (BM * LINE)
#define B_TILE (BN * LINE)
#define STAGE_BYTES (A_TILE + B_TILE)
#define A_PARTS CLUSTER_N  // parts of a tile that work-groups of a cluster load for each other
#define B_PARTS CLUSTER_M
#define K_STEPS 4                           // products of 32 bytes of k in a line
#define READERS (REGISTER_A || REGISTER_B ? 4 : 1)  // of a consumer, that release a stage: its warps, where each reads by itself

// C leaves by slabs, and a few warps fill the lines of one together.
#define SLAB (LINE / RESULT_BYTES)                // columns of a slab
#define SLAB_WARPS (REGISTER_A ? 2 / BLOCKS : 4)         // warps that fill it
#define SLAB_ROWS (REGISTER_A ? 32 : 64)              // its rows
#define WARP_ROWS (SLAB_ROWS / SLAB_WARPS)           // of them, that a warp stores by itself
#define SLAB_SUMS (WARP_ROWS * SLAB / 32)         // of a work-item
#define SLABS_ACROSS ((WN + SLAB - 1) / SLAB)     // of a consumer's columns; the last may be a part of one
#define SLABS ((REGISTER_A ? 1 : BLOCKS) * SLABS_ACROSS)  // one after another, until all sums are stored
#define SLOTS_BYTES (SLAB_WARPS * 4096)              // of local memory, for slabs of the same warps
#define SLOTS (SLOTS_BYTES / (SLAB_ROWS * LINE))  // slabs there: of two one is filled while the other is stored
#define ALL_SLOTS_BYTES ((STAGED > 0 || STORE_BY_TMA) * CONSUMERS * 4 / SLAB_WARPS * SLOTS_BYTES)

// Bytes from what one product reads to what the next one does: a quarter of each line, or 16 lines if they run across k.
#define A_STEP (A_ACROSS ? 16 * LINE : LINE / K_STEPS)
#define B_STEP (B_ACROSS ? 16 * B_LINE : LINE / K_STEPS)
#define B_BOX (BK * B_LINE / LINE)  // columns of B that are loaded at a time, if they run across k

#include "scheduler.cl"
#include "../pipeline.cl"
#if CLUSTER > 1
#include "cluster.cl"
#endif
#ifndef EMULATED
#include "producer.cl"
#endif

// A reader has read a stage, and tells whoever loads it. `lane` is the work-item's number among those of the reader.
INLINE void release_stage(const Ring ring, const uint stage, const int lane)
{
#if CLUSTER > 1
    if (lane < CLUSTER)
        mbarrier_arrive_cluster(ring.empty + 8 * stage, lane);
#else
    if (lane == 0)
        mbarrier_arrive(ring.empty + 8 * stage);
#endif
}

#if REGISTER_A || REGISTER_B
#include "register_operand.cl"
#else
// Starts sums = the product of one stage, plus what they were if `keep` is not 0. It runs on by itself.
INLINE void start(COMPONENT sums[BLOCKS][PART / 2], const uint a_first, const uint b_first, const int keep)
{
    const ulong a = wgmma_descriptor(a_first, BLOCK, 8 * LINE), b = wgmma_descriptor_by(b_first, 64 * B_LINE, 8 * B_LINE, B_LINE);
    wgmma_fence();
#pragma unroll
    for (int part = 0; part < K_STEPS; part++)
#pragma unroll
        for (int block = 0; block < BLOCKS; block++)
            MULTIPLY(PART, sums[block], a + (block * BLOCK + part * A_STEP) / 16, b + part * B_STEP / 16, part > 0 || keep,
                     A_ACROSS, B_ACROSS);
    wgmma_commit_group();
}

INLINE void await_products(COMPONENT sums[BLOCKS][PART / 2])
{
    wgmma_wait_group_0();
#pragma unroll
    for (int block = 0; block < BLOCKS; block++)
        wgmma_ready(PART, KIND, sums[block]);
}

#if PROMOTE
// sums = the product of `steps` stages, from `state` on, each added to floats that round. While one consumer adds, another
// one's products run.
INLINE PipelineState multiply(COMPONENT sums[BLOCKS][WN / 2], PipelineState state, const int steps, const uint a_first, const uint b_first,
                     const Ring ring, const int item)
{
    COMPONENT fresh[BLOCKS][PART / 2];
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i++)
        sums[i / (WN / 2)][i % (WN / 2)] = 0;
    for (int step = 0; step < steps; step++) {
        mbarrier_wait(ring.full + 8 * state.stage, state.parity);
#pragma unroll
        for (int part = 0; part < PROMOTE; part++) {
            start(fresh, a_first + state.stage * STAGE_BYTES, b_first + state.stage * STAGE_BYTES + part * PART * LINE, 0);
            await_products(fresh);
            if (part == PROMOTE - 1)
                release_stage(ring, state.stage, item);
#pragma unroll
            for (int i = 0; i < BLOCKS * PART / 2; i++)
                sums[i / (PART / 2)][part * PART / 2 + i % (PART / 2)] += fresh[i / (PART / 2)][i % (PART / 2)];
        }
        NEXT_STAGE(state.stage, state.parity)
    }
    return state;
}
#else
// sums = the product of `steps` stages, from `state` on. Each stage is released when it has been read.
INLINE PipelineState multiply(COMPONENT sums[BLOCKS][WN / 2], PipelineState state, const int steps, const uint a_first, const uint b_first,
                     const Ring ring, const int item)
{
    uint last = 0;
    for (int step = 0; step < steps; step++) {
        mbarrier_wait(ring.full + 8 * state.stage, state.parity);
        start(sums, a_first + state.stage * STAGE_BYTES, b_first + state.stage * STAGE_BYTES, step > 0);
        wgmma_wait_group_1();  // the stage before this one has been read
        if (step > 0)
            release_stage(ring, last, item);
        last = state.stage;
        NEXT_STAGE(state.stage, state.parity)
    }
    await_products(sums);
    release_stage(ring, last, item);
    return state;
}
#endif
#endif

#include "store.cl"
#if TAIL_SPLIT > 1
#include "fixup.cl"
#endif

#ifndef EMULATED  // an emulation has an entry of its own
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const int batches, const int whole, const int b_once,
          const int a_rows, const int b_rows, const ACC alpha, const ACC beta,
          __global ulong* map_a, __global ulong* edge_a, __global ulong* map_b, __global ulong* edge_b, __global ulong* map_c,
          const __global STORED* A, const long a_offset, const long a_batch,
          const __global STORED* B, const long b_offset, const long b_batch,
          __global RESULT* C, const long c_offset, const long c_row, const long c_batch,
          const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
          const __global float* scale_a, const long scale_a_row, const __global float* scale_b, const long scale_b_column,
          __global COMPONENT* partial, __global int* semaphores)
{
    __local uchar local_tiles[STAGES * STAGE_BYTES + ALL_SLOTS_BYTES] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES] __attribute__((aligned(16)));

    const int item = get_local_id(0), warpgroup = item / 128;
    const Ring ring = ring_at(local_address(local_tiles), local_address(barriers));
    const int clusters_m = (M + BM * CLUSTER_M - 1) / (BM * CLUSTER_M), clusters_n = (N + BN * CLUSTER_N - 1) / (BN * CLUSTER_N);
    const int steps = (K + ODD_ROW_LEAD + BK - 1) / BK;
#if CLUSTER > 1
    const int rank = cluster_ctarank();
#else
    const int rank = 0;
#endif
    const Grid grid = {clusters_m, clusters_n, steps, whole, clusters_m * clusters_n * batches - whole,
                       (int)get_group_id(0) / CLUSTER, (int)get_num_groups(0) / CLUSTER, rank};

    if (item == 0) {
        init_barriers(ring, CONSUMERS * READERS * CLUSTER);
        fence_mbarrier_init();
    }
    // Each from a warp of its own, as each waits for global memory.
    if (item == 32)
        tensormap_address(map_a, (ulong)(A + a_offset));
    if (item == 64)
        tensormap_address(map_b, (ulong)(B + b_offset));
    if (A_EDGED && item == 128)
        tensormap_address(edge_a, (ulong)(A + a_offset));
    if (B_EDGED && item == 160)
        tensormap_address(edge_b, (ulong)(B + b_offset));
#if STORE_BY_TMA
    if (item == 96)
        tensormap_address(map_c, (ulong)(C + c_offset));
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
#if CLUSTER > 1
    barrier_cluster();  // the other work-group has begun, and made its barriers
#endif

    if (warpgroup == 0) {
#if PRODUCER_REGISTERS
        setmaxnreg_dec(PRODUCER_REGISTERS);
#endif
        if (item == 0) {
            const Source a = {map_a, edge_a, a_batch != 0, M, a_rows, A_ACROSS ? BK : 8 * A_PARTS, A_EDGED};
            const Source b = {map_b, edge_b, b_batch != 0, N, b_rows, B_ACROSS ? B_BOX : 8 * B_PARTS, B_EDGED};
            produce(grid, ring, a, b, b_once);
        }
    } else {
#if CONSUMER_REGISTERS
        setmaxnreg_inc(CONSUMER_REGISTERS);
#endif
        const int consumer = warpgroup - 1, own_item = item % 128;
        const int own_m = consumer / CONSUMERS_N * (BM / CONSUMERS_M), own_n = consumer % CONSUMERS_N * (BN / CONSUMERS_N);
        PipelineState state = {0, 0};
        const int slab_group = (consumer * 4 + own_item / 32) / SLAB_WARPS;  // which of all groups of warps that fill slabs
        local uchar* slots = local_tiles + STAGES * STAGE_BYTES + slab_group * SLOTS_BYTES;
        for (WorkTile work = first_work(grid); work.steps > 0; work = next_work(grid, work)) {
            const Origin place = origin_of(grid, work.tile);
            COMPONENT sums[BLOCKS][WN / 2];
#if REGISTER_A
            state = multiply(sums, state, work.steps, local_tiles + own_m * LINE, ring.stages + A_TILE + own_n * LINE, ring, own_item);
#elif REGISTER_B
            state = multiply(sums, state, work.steps, local_tiles + A_TILE + own_n * LINE, ring.stages + own_m * LINE, ring, own_item);
#else
            state = multiply(sums, state, work.steps, ring.stages + own_m * LINE, ring.stages + A_TILE + own_n * LINE, ring, own_item);
#endif
            const Part part = {place.m + own_m, place.n + own_n, place.matrix, M, N};
#if SCALED
            scale_part(sums, part, scale_a, scale_a_row, scale_b, scale_b_column, own_item);
#endif
            __global RESULT* matrix = C + c_offset + place.matrix * c_batch;
#if TAIL_SPLIT > 1
            if (ONE_WAVE || work.tile >= whole) {
                reduce_and_store(sums, part, tail_tile(grid, work), work.part, alpha, beta, matrix, c_row, bias + bias_offset,
                             bias_row, bias_column, partial, semaphores, consumer, own_item);
                continue;
            }
#endif
            store_part(sums, part, alpha, beta, map_c, matrix, c_row, bias + bias_offset, bias_row, bias_column, slots, slab_group,
                       own_item);
        }
#if STORE_BY_TMA
        if (own_item % 32 == 0)
            bulk_wait_group_read();
#endif
    }
}
#endif
