// Exact products on Hopper: the copy engine fetches, eight warps only multiply, 16 x 8 in registers, with an eye on their banks.
//
// BM, BN         the tile of C that a work-group computes
// SLICES         groups of warps that share a tile: each sums its own part of every stage's k, and they add up at the end,
//                in the stages' memory: such a work-group has a single tile, or part of one
// DEPTH, BK      k of a slice in a stage, and of the stage
// STAGES         stages that the copy engine may be ahead
// GROUP_M        rows of tiles that are finished together, so that work-groups which run at a time share panels in cache
// TURN_A, TURN_B 1: neighbours in memory are neighbours along k. Such an operand is turned in local memory, since a
//                work-item's operands are rows of 16 bytes across k; 0: they lie so in memory
// A_BATCHED, B_BATCHED  0: all matrices of a batch share the operand
// C_VEC          elements of one store; above 1, c_column is 1
//
// Why this order. A quarter of a compute unit starts one multiply-add per clock and reads two registers for it in that
// time, one with an even number and one with an odd number; what the instruction before has read in the same place it need
// not read again. So an element of A stays while the columns are walked to and fro, and a sum should have an odd register
// where its element of B has an even one. Registers are the compiler's business, but four numbers that are stored together
// get four in a row: hence sums leave for memory in exchanged pairs, or seem to. On an H200 both together brought the
// multiply-adds that are started per clock from 0.71 to 0.84 (docs/fp32-hopper.md).
//
// A work-group computes one part of the product after the other (schedule.cl). Eight warps, the consumers, do nothing but
// multiply and store. Of four more, one asks the copy engine for stages, as many ahead as there are, and does not stop at the
// end of a tile; the other three turn the operands that want it, into the stage's second part. Barriers of a stage: `full`,
// when the copy engine has written it; `turned`; `done`, when the consumers have read it.
//
// CONSUMER_REGISTERS, PRODUCER_REGISTERS  what setmaxnreg gives the work-items of the two kinds

#include "../gemm/elements.cl"
#include "../gemm/epilogue.cl"

#define SHARED 1
#include "../mma/schedule.cl"

#define TM 16                     // rows and columns of C of a work-item
#define TN 8
#define BOX_DEPTH 16              // k that the copy engine fetches of an operand that is turned: rows of 64 bytes
#define BOXES (BK / BOX_DEPTH)
#define WARP_BM (4 * TM)          // a warp's tile: 4 x 8 work-items
#define WARP_BN (8 * TN)
#define SLICE_WARPS (BM / WARP_BM * (BN / WARP_BN))
#define SLICE_ITEMS (32 * SLICE_WARPS)
#define WARPS (SLICE_WARPS * SLICES)
#define ITEMS (32 * WARPS)        // that multiply
#define TURNERS 3                 // warps
#define STEP_M (BM / (TM / 4))    // rows between a work-item's fragments of four
#define STEP_N (BN / (TN / 4))
#define MOST_ROWS 256             // of a box
#define A_SIDE (BM < MOST_ROWS ? BM : MOST_ROWS)  // rows of one block of A: a stage's are BM / A_SIDE blocks of BK * A_SIDE
#define B_SIDE (BN < MOST_ROWS ? BN : MOST_ROWS)
#define A_ELEMENTS (BM * BK)
#define B_ELEMENTS (BN * BK)
// Where row `row` of the first k lies in a stage's blocks of `side` rows.
#define PLACE(row, side) ((row) / (side) * (side) * BK + (row) % (side))
#define FETCHED_ELEMENTS (A_ELEMENTS + B_ELEMENTS)
#define TURNED_B (FETCHED_ELEMENTS + TURN_A * A_ELEMENTS)  // where what is turned of B begins in a stage
#define STAGE_ELEMENTS (TURNED_B + TURN_B * B_ELEMENTS)
#define STAGE_BYTES (4 * STAGE_ELEMENTS)
#define TURN (TURN_A || TURN_B)
#define ROWS (TM / SLICES)        // rows of its 16 that a work-item finishes
#define FRAGMENTS (TM * TN / 4)   // of a work-item's sums
#define OWN_FRAGMENTS (ROWS * TN / 4)
#define PIECE (BM * BN)           // sums of a tile
#define JOINED 4                  // fragments of a tile in pieces that are added up together
#define FRAGMENT JOIN(COMPONENT, 4)

// Asks the copy engine for `blocks` blocks of `side` rows of an operand, by boxes that are turned or whole.
INLINE void fetch_blocks(const uint to, const uint full, const __global ulong* map, const int first, const int blocks,
                         const int side, const int turned, const int batch, const int k)
{
#pragma unroll
    for (int block = 0; block < blocks; block++)
#pragma unroll
        for (int box = 0; box < (turned ? BOXES : 1); box++) {
            const int row = first + block * side, depth = k + box * BOX_DEPTH;
            cp_async_bulk_tensor_3d(to + (block * BK + box * BOX_DEPTH) * side * 4, map, turned ? depth : row,
                                    turned ? row : depth, batch, full);
        }
}

// Asks the copy engine for the stage of A and B from `k` on.
INLINE void fetch(const uint stage, const uint full, const __global ulong* map_a, const __global ulong* map_b,
                  const int2 tile, const int batch, const int k)
{
    mbarrier_arrive_expect_tx(full, 4 * FETCHED_ELEMENTS);
    fetch_blocks(stage, full, map_a, tile.x, BM / A_SIDE, A_SIDE, TURN_A, A_BATCHED * batch, k);
    fetch_blocks(stage + A_ELEMENTS * 4, full, map_b, tile.y, BN / B_SIDE, B_SIDE, TURN_B, B_BATCHED * batch, k);
}

// Turns `side` rows of BK elements into rows across k: a warp takes 32 rows of a box, each work-item one of them. The copy
// engine has exchanged the four pieces of 16 bytes of a row, so that reading a column of pieces meets no bank twice.
INLINE void turn(const __local COMPONENT* from, __local COMPONENT* panel, const int side, const int warp, const int lane)
{
#pragma unroll
    for (int first = 0; first < side / 32 * BOXES; first += TURNERS) {
        const int unit = first + warp, box = unit / (side / 32), row = unit % (side / 32) * 32 + lane;
        if (unit < side / 32 * BOXES) {
            const __local COMPONENT* pieces = from + (box * side + row) * BOX_DEPTH;
            __local COMPONENT* column = panel + box * BOX_DEPTH * side + row;
            FRAGMENT held[BOX_DEPTH / 4];
#pragma unroll
            for (int piece = 0; piece < BOX_DEPTH / 4; piece++)
                held[piece] = *(const __local FRAGMENT*)(pieces + 4 * (piece ^ (row >> 1 & 3)));
#pragma unroll
            for (int piece = 0; piece < BOX_DEPTH / 4; piece++) {
                column[(4 * piece + 0) * side] = held[piece].x;
                column[(4 * piece + 1) * side] = held[piece].y;
                column[(4 * piece + 2) * side] = held[piece].z;
                column[(4 * piece + 3) * side] = held[piece].w;
            }
        }
    }
}

// The slice's k of a stage.
INLINE void multiply(COMPONENT sum[TM][TN], const __local COMPONENT* a_row, const __local COMPONENT* b_row)
{
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
        COMPONENT a[TM], b[TN];
#pragma unroll
        for (int i = 0; i < TM / 4; i++)
            vstore4(*(const __local FRAGMENT*)(a_row + k * A_SIDE + PLACE(i * STEP_M, A_SIDE)), i, a);
#pragma unroll
        for (int j = 0; j < TN / 4; j++)
            vstore4(*(const __local FRAGMENT*)(b_row + k * B_SIDE + PLACE(j * STEP_N, B_SIDE)), j, b);
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int step = 0; step < TN; step++) {
                const int j = i % 2 ? TN - 1 - step : step;
                sum[i][j] = MULTIPLY_ADD(a[i], b[j], sum[i][j]);
            }
    }
}

// Four sums side by side, in exchanged pairs.
INLINE FRAGMENT exchanged(const COMPONENT* sum)
{
    return (FRAGMENT)(sum[1], sum[0], sum[3], sum[2]);
}

INLINE void add_exchanged(COMPONENT* sum, const FRAGMENT held)
{
    sum[1] += held.x, sum[0] += held.y, sum[3] += held.z, sum[2] += held.w;
}

// Never runs, as no K is negative; but that the compiler cannot know. So it keeps the sums where they can leave in
// exchanged pairs, although C is stored without.
INLINE void suggest_registers(COMPONENT sum[TM][TN], __local COMPONENT* held, const int K)
{
    volatile __local FRAGMENT* own = (volatile __local FRAGMENT*)held + get_local_id(0);
    if (K < 0)
#pragma unroll
        for (int i = 0; i < FRAGMENTS; i++)
            own[i * ITEMS] = exchanged(sum[0] + 4 * i);
}

// The row and the column of C of a work-item's sum, beside its corner.
INLINE int row_of(const int i)
{
    return i / 4 * STEP_M + i % 4;
}

INLINE int column_of(const int j)
{
    return j / 4 * STEP_N + j % 4;
}

// What becomes of sums, and where.
typedef struct {
    int M, N;
    ACC alpha, beta;
    __global RESULT* c;
    long c_row, c_column, c_batch;
    const __global RESULT* bias;
    long bias_row, bias_column;
} Target;

// Finishes C_VEC sums that lie side by side in a row of C, unless they are outside.
INLINE void store(COMPONENT* sum, const Target target, const int row, const int column, const long batch)
{
    if (row < target.M && column < target.N)
        finish(sum, target.alpha, target.beta,
               target.c + batch * target.c_batch + row * target.c_row + column * target.c_column,
               target.bias + row * target.bias_row + column * target.bias_column, target.bias_column);
}

#if SLICES > 1
// Slice s gets, in its rows from s * ROWS on, what all slices have summed there.
INLINE void add_up_slices(COMPONENT sum[TM][TN], __local COMPONENT* held, const int slice)
{
    __local FRAGMENT* sums = (__local FRAGMENT*)held + get_local_id(0) % SLICE_ITEMS;
    bar_sync(1, ITEMS);
#pragma unroll
    for (int i = 0; i < FRAGMENTS; i++)
        if (i / OWN_FRAGMENTS != slice)
            sums[(i * SLICES + slice) * SLICE_ITEMS] = exchanged(sum[0] + 4 * i);
    bar_sync(1, ITEMS);
    for (int other = 0; other < SLICES; other++)
#pragma unroll
        for (int i = 0; i < FRAGMENTS; i++)
            if (i / OWN_FRAGMENTS == slice && other != slice)
                add_exchanged(sum[0] + 4 * i, sums[(i * SLICES + other) * SLICE_ITEMS]);
}
#endif

// Leaves the sums of a tile that other work-groups have a part of, too, and says so on the tile's ticket. All
// work-items must get here.
INLINE void leave_piece(const COMPONENT sum[TM][TN], const int slice, __global COMPONENT* piece,
                        volatile __global int* ticket)
{
    __global FRAGMENT* own = (__global FRAGMENT*)piece + get_local_id(0);
#pragma unroll
    for (int i = 0; i < FRAGMENTS; i++)
        if (i / OWN_FRAGMENTS == slice)
            own[i % OWN_FRAGMENTS * ITEMS] = exchanged(sum[0] + 4 * i);
    fence_acq_rel_gpu();
    bar_sync(1, ITEMS);
    if (get_local_id(0) == 0)
        atomic_inc(ticket);
}

// Waits until all pieces of a tile are there. All work-groups of the launch run at a time, so that none waits in vain.
INLINE void await_pieces(const int pieces, volatile __global int* ticket)
{
    if (get_local_id(0) == 0)
        while (*ticket < pieces)
            ;
    bar_sync(1, ITEMS);
    fence_acq_rel_gpu();
}

// Says that this work-group needs the pieces no longer. Tickets are 0 before the launch and after it.
INLINE void release_pieces(const int pieces, volatile __global int* ticket)
{
    bar_sync(1, ITEMS);
    if (get_local_id(0) == 0 && atomic_inc(ticket) == 2 * pieces - 1)
        *ticket = 0;
}

// Adds up fragments `first` and on, `JOINED` of them `step` apart, in the order of k, so that the result is the same at
// every run.
INLINE void add_up(FRAGMENT total[JOINED], const __global COMPONENT* pieces_of_tile, const int pieces, const int first,
                   const int step)
{
    const __global FRAGMENT* own = (const __global FRAGMENT*)pieces_of_tile + get_local_id(0);
#pragma unroll
    for (int i = 0; i < JOINED; i++)
        total[i] = (FRAGMENT)(0);
#pragma unroll 4
    for (int other = 0; other < pieces; other++)
#pragma unroll
        for (int i = 0; i < JOINED; i++)
            if (first + i * step < OWN_FRAGMENTS)
                total[i] += own[(other * OWN_FRAGMENTS + first + i * step) * ITEMS];
}

// Finishes what this work-group has to of a tile whose pieces several have left: every so many fragments.
INLINE void finish_share(const __global COMPONENT* pieces_of_tile, const int piece, const int pieces, const int slice,
                         const Target target, const int2 first, const long batch)
{
    for (int i = piece; i < OWN_FRAGMENTS; i += JOINED * pieces) {
        FRAGMENT total[JOINED];
        add_up(total, pieces_of_tile, pieces, i, pieces);
#pragma unroll
        for (int j = 0; j < JOINED; j++) {
            const int own = i + j * pieces, fragment = slice * OWN_FRAGMENTS + own;
            const int row = first.x + row_of(fragment / (TN / 4)), column = first.y + fragment % (TN / 4) * STEP_N;
            COMPONENT sum[4] = {total[j].y, total[j].x, total[j].w, total[j].z};
#pragma unroll
            for (int side = 0; side < 4; side += C_VEC)
                if (own < OWN_FRAGMENTS)
                    store(sum + side, target, row, column + side, batch);
        }
    }
}

// Joins the tiles that this work-group has left pieces of. Each of a tile's work-groups adds up a share of it, as soon as
// all pieces are there. Tiles that are shared out have at most two for each work-group.
INLINE void join(const __global COMPONENT* partial, volatile __global int* tickets, const Target target, const int slice,
                 const int2 corner, const int steps, const int whole, const int tiles)
{
    const int shared = (tiles - whole) * steps, group = get_group_id(0), area = tiles_of_matrix(target.M, target.N);
    const int end = first_panel(group + 1, shared);
#pragma unroll 1
    for (int tile = first_panel(group, shared) / steps; tile * steps < end; tile++) {
        const int leader = group_of(tile * steps, shared);
        const int pieces = group_of(tile * steps + steps - 1, shared) - leader + 1;
        const int2 first = tile_place((whole + tile) % area, target.M, target.N) * (int2)(BM, BN) + corner;
        if (pieces > 1) {
            // Counted over all tiles, the pieces before this tile are one for each group before, and one for each tile.
            await_pieces(pieces, tickets + tile);
            finish_share(partial + (size_t)(leader + tile) * PIECE, group - leader, pieces, slice, target, first,
                         (whole + tile) / area);
            release_pieces(pieces, tickets + tile);
        }
    }
}

// Local addresses of the first stage and of the first barrier of each kind.
typedef struct {
    uint stages, full, turned, done;
} Ring;

// One work-item asks the copy engine for stage after stage of all parts.
INLINE void produce(const Ring ring, __global ulong* map_a, __global ulong* map_b, const int M, const int N, const int steps,
                    const int whole, const int tiles)
{
    const int area = tiles_of_matrix(M, N);
    Work work = before_work(whole, tiles, steps);
    int stage = 0;
    uint parity = 1;
    next_work(&work, whole, tiles, steps);
    while (work.first < work.last) {
        const int2 tile = tile_place(work.number % area, M, N) * (int2)(BM, BN);
#pragma unroll 1
        for (int panel = work.first; panel < work.last; panel++) {
            mbarrier_wait(ring.done + 8 * stage, parity);
            fetch(ring.stages + stage * STAGE_BYTES, ring.full + 8 * stage, map_a, map_b, tile, work.number / area, panel * BK);
            stage = stage + 1 < STAGES ? stage + 1 : 0;
            parity ^= stage == 0;
        }
        next_work(&work, whole, tiles, steps);
    }
}

// Three warps turn what wants it of stage after stage.
INLINE void turn_all(const Ring ring, __local COMPONENT* stages, const int warp, const int lane, const int steps,
                     const int whole, const int tiles)
{
    Work work = before_work(whole, tiles, steps);
    int stage = 0;
    uint parity = 0;
    next_work(&work, whole, tiles, steps);
    while (work.first < work.last) {
#pragma unroll 1
        for (int step = work.first; step < work.last; step++) {
            __local COMPONENT* own = stages + stage * STAGE_ELEMENTS;
            mbarrier_wait(ring.full + 8 * stage, parity);
#pragma unroll
            for (int row = 0; row < TURN_A * BM; row += A_SIDE)
                turn(own + row * BK, own + FETCHED_ELEMENTS + row * BK, A_SIDE, warp, lane);
#pragma unroll
            for (int row = 0; row < TURN_B * BN; row += B_SIDE)
                turn(own + A_ELEMENTS + row * BK, own + TURNED_B + row * BK, B_SIDE, warp, lane);
            bar_warp_sync();
            if (lane == 0)
                mbarrier_arrive(ring.turned + 8 * stage);
            stage = stage + 1 < STAGES ? stage + 1 : 0;
            parity ^= stage == 0;
        }
        next_work(&work, whole, tiles, steps);
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS + 128, 1, 1)))
void product(const int M, const int N, const int K, const ACC alpha, const ACC beta, const int whole, const int tiles,
             __global ulong* map_a, const __global STORED* A, const long a_offset,
             __global ulong* map_b, const __global STORED* B, const long b_offset,
             __global RESULT* C, const long c_offset, const long c_row, const long c_column, const long c_batch,
             const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
             __global COMPONENT* partial, volatile __global int* tickets)
{
    __local COMPONENT stages[STAGES * STAGE_ELEMENTS] __attribute__((aligned(1024)));
    __local ulong barriers[3 * STAGES] __attribute__((aligned(16)));

    const int item = get_local_id(0), lane = item % 32, warp = shfl_sync_idx(item / 32, 0);
    const int steps = (K + BK - 1) / BK;
    Ring ring;
    ring.stages = local_address(stages);
    ring.full = local_address(barriers);
    ring.turned = ring.full + 8 * STAGES;
    ring.done = ring.turned + 8 * STAGES;

    if (item == ITEMS)
        tensormap_address(map_a, (ulong)(A + a_offset));
    if (item == ITEMS + 32)
        tensormap_address(map_b, (ulong)(B + b_offset));
    if (item == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(ring.full + 8 * stage, 1);
            mbarrier_init(ring.turned + 8 * stage, TURNERS);
            mbarrier_init(ring.done + 8 * stage, WARPS);
        }
        fence_mbarrier_init();
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (warp >= WARPS) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (item == ITEMS)
            produce(ring, map_a, map_b, M, N, steps, whole, tiles);
        if (TURN && warp > WARPS)
            turn_all(ring, stages, warp - WARPS - 1, lane, steps, whole, tiles);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        const int slice = warp / SLICE_WARPS, block = warp % SLICE_WARPS, area = tiles_of_matrix(M, N);
        const Target target = {M,       N,       alpha,              beta,     C + c_offset, c_row, c_column,
                               c_batch, bias + bias_offset, bias_row, bias_column};
        // 4 x 8 work-items of a warp: those side by side hold neighbouring columns.
        const int2 corner = (int2)(block / (BN / WARP_BN) * 4 + lane / 8, block % (BN / WARP_BN) * 8 + lane % 8) * 4;
        const int a_place = (TURN_A ? FETCHED_ELEMENTS : 0) + slice * DEPTH * A_SIDE + corner.x;
        const int b_place = (TURN_B ? TURNED_B : A_ELEMENTS) + slice * DEPTH * B_SIDE + corner.y;
        const uint ready = TURN ? ring.turned : ring.full;
        Work work = before_work(whole, tiles, steps);
        int stage = 0;
        uint parity = 0;

        COMPONENT sum[TM][TN];
#pragma unroll
        for (int i = 0; i < TM * TN; i++)
            sum[i / TN][i % TN] = 0;
        next_work(&work, whole, tiles, steps);
        while (work.first < work.last) {
#pragma unroll 1
            for (int step = work.first; step < work.last; step++) {
                const __local COMPONENT* own = stages + stage * STAGE_ELEMENTS;
                mbarrier_wait(ready + 8 * stage, parity);
                multiply(sum, own + a_place, own + b_place);
                bar_warp_sync();
                if (lane == 0)
                    mbarrier_arrive(ring.done + 8 * stage);
                stage = stage + 1 < STAGES ? stage + 1 : 0;
                parity ^= stage == 0;
            }
            suggest_registers(sum, stages, K);
#if SLICES > 1
            add_up_slices(sum, stages, slice);
#endif
            const int complete = work.last - work.first == steps, tile = work.number - whole;
            if (!complete)
                leave_piece(sum, slice, partial + (size_t)(get_group_id(0) + tile) * PIECE, tickets + tile);
            const int2 first = tile_place(work.number % area, M, N) * (int2)(BM, BN) + corner;
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j += C_VEC)
                    if (complete && i / ROWS == slice)
                        store(sum[i] + j, target, first.x + row_of(i), first.y + column_of(j), work.number / area);
#pragma unroll
            for (int i = 0; i < TM * TN; i++)
                sum[i / TN][i % TN] = 0;
            next_work(&work, whole, tiles, steps);
        }
        if (whole < tiles)
            join(partial, tickets, target, slice, corner, steps, whole, tiles);
    }
}
