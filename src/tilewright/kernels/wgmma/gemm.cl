// Matrix products on Hopper's tensor cores: one warpgroup fetches tiles by TMA, the others multiply them by wgmma.
//
// BM, BN          the tile of C that a work-group computes at a time
// BK              elements of k of a stage: 128 bytes, the width of the swizzle
// STAGES          tiles of A and B in local memory, fetched ahead
// CONSUMERS_M, CONSUMERS_N  how the tile is shared out among the warpgroups that multiply
// WN              columns of it that one warpgroup multiplies: BN / CONSUMERS_N
// GROUP_M         rows of tiles that are computed at a time, so that they share what they read in cache
// MULTIPLY        the wgmma of the element types; KIND how its sums are bound, "+f" or "+r"
// A_ACROSS, B_ACROSS  1 if the operand's lines in memory run across k
// WITH_ALPHA      1 if alpha is not 1
// WITH_C          1 if beta is not 0
// STORE_BY_TMA    1 if C goes through local memory and the copy engine, 0 if its rows are not aligned for that
// RESULT_BYTES    bytes of an element of C
// C_VEC           elements of a row of C that are stored together in that case
// SHARED          1 if tiles that do not fill all work-groups are cut along k into equal ranges, one for each
// PRODUCER_REGISTERS, CONSUMER_REGISTERS  of a work-item; 0 where all have enough from the start
//
// While a work-group's consumers finish a tile, its producer fetches the next. The maps give zeros outside of A and B, and
// cut off what lies outside of C.

#include "../gemm/elements.cl"
#include "../gemm/epilogue.cl"

#define CONSUMERS (CONSUMERS_M * CONSUMERS_N)
#define ITEMS (128 * (1 + CONSUMERS))
#define BLOCKS (BM / CONSUMERS_M / 64)  // of 64 rows, that a consumer computes
#define LINE 128                        // bytes of a line of a tile: the swizzle permutes its 8 pieces of 16
#define BLOCK (64 * LINE)
#define A_TILE (BM * LINE)
#define B_TILE (BN * LINE)
#define STAGE (A_TILE + B_TILE)
#define SLAB (LINE / RESULT_BYTES)  // columns of C that are stored at a time
#define SLABS (BLOCKS * WN / SLAB)  // of a consumer
#define SLOTS 2                     // of them that a consumer has in local memory: one is filled while the other is stored
#define SLOTS_BYTES (STORE_BY_TMA * CONSUMERS * SLOTS * BLOCK)
#define K_STEPS 4                   // products of 32 bytes of k in a line

// Bytes from what one product reads to what the next one does: a quarter of each line, or 16 lines if they run across k.
#define A_STEP (A_ACROSS ? 16 * LINE : LINE / K_STEPS)
#define B_STEP (B_ACROSS ? 16 * LINE : LINE / K_STEPS)

// The work of all work-groups. Tiles are counted over C and then over the batch.
typedef struct {
    int tiles_m, tiles_n;  // of C
    int steps;             // of BK, of a tile
    int whole;             // tiles that one work-group computes alone: number g, g + groups, ...
    int shared_steps;      // of all other tiles together
    int ranges;            // of about the same length, into which they are cut: one each for the first work-groups
    int group, groups;
} Grid;

typedef struct {
    int m, n;    // first row and column of C
    int matrix;  // of the batch
} Place;

// What a work-group does at a time: a tile, or some steps of one.
typedef struct {
    int tile;
    int first, steps;
    int next;  // step of the work-group's range at which it goes on
} Share;

typedef struct {
    int stage;
    uint parity;
} Turn;

INLINE Turn next_turn(Turn turn)
{
    turn.stage += 1;
    if (turn.stage == STAGES) {
        turn.stage = 0;
        turn.parity ^= 1;
    }
    return turn;
}

INLINE Place find_place(const Grid grid, const int tile)
{
    const int area = grid.tiles_m * grid.tiles_n, number = tile % area;
    const int band = GROUP_M * grid.tiles_n, first = number / band * GROUP_M;
    const int height = min(GROUP_M, grid.tiles_m - first), in_band = number % band;
    Place place;
    place.m = (first + in_band % height) * BM;
    place.n = in_band / height * BN;
    place.matrix = tile / area;
    return place;
}

// Where the range of shared steps of a work-group begins, and which work-group's range a step is in.
INLINE int range_begin(const Grid grid, const int group)
{
    return (long)min(group, grid.ranges) * grid.shared_steps / grid.ranges;
}

INLINE int owner_of(const Grid grid, const int step)
{
    return (((long)step + 1) * grid.ranges - 1) / grid.shared_steps;
}

INLINE Share share_at(const Grid grid, const int tile, const int next)
{
    Share share = {tile, 0, grid.steps, next};
#if SHARED
    if (tile >= grid.whole) {
        share.tile = grid.whole + next / grid.steps;
        share.first = next % grid.steps;
        share.steps = min(grid.steps - share.first, range_begin(grid, grid.group + 1) - next);
        share.next += share.steps;
    }
#else
    if (tile >= grid.whole)
        share.steps = 0;
#endif
    return share;
}

INLINE Share first_share(const Grid grid)
{
    return share_at(grid, grid.group, SHARED ? range_begin(grid, grid.group) : 0);
}

INLINE Share next_share(const Grid grid, const Share share)
{
    return share_at(grid, share.tile + grid.groups, share.next);
}

// One work-item fetches all tiles, as soon as the stage that each goes to is empty.
INLINE void produce(const Grid grid, const uint tiles, const uint full, const uint empty, const __global ulong* map_a,
                    const int a_moves, const __global ulong* map_b, const int b_moves)
{
    Turn turn = {0, 0};
    for (Share share = first_share(grid); share.steps > 0; share = next_share(grid, share)) {
        const Place place = find_place(grid, share.tile);
        const int a_matrix = place.matrix * a_moves, b_matrix = place.matrix * b_moves;
        int k = share.first * BK;
        for (int step = 0; step < share.steps; step++, k += BK, turn = next_turn(turn)) {
            const uint ready = full + 8 * turn.stage, a = tiles + turn.stage * STAGE, b = a + A_TILE;
            mbarrier_wait(empty + 8 * turn.stage, turn.parity ^ 1);
            mbarrier_arrive_expect_tx(ready, STAGE);
#if A_ACROSS
#pragma unroll
            for (int row = 0; row < BM; row += 64)
                cp_async_bulk_tensor_3d(a + row * LINE, map_a, place.m + row, k, a_matrix, ready);
#else
            cp_async_bulk_tensor_3d(a, map_a, k, place.m, a_matrix, ready);
#endif
#if B_ACROSS
#pragma unroll
            for (int column = 0; column < BN; column += 64)
                cp_async_bulk_tensor_3d(b + column * LINE, map_b, place.n + column, k, b_matrix, ready);
#else
            cp_async_bulk_tensor_3d(b, map_b, k, place.n, b_matrix, ready);
#endif
        }
    }
}

#if SHARED
// Adds to a consumer's sums what other work-groups summed of the same tile, if all of them have; else leaves its own sums
// for them in `partial`, and answers 0. Each work-group has room for two tiles there: one that it begins in the middle of,
// and one that it leaves in the middle. `tickets` counts who has come, and is 0 again in the end.
INLINE int collect(COMPONENT sums[BLOCKS][WN / 2], const Grid grid, const Share share, __global COMPONENT* partial,
                   __global uint* tickets, __local int* answer, const int consumer, const int item)
{
    const int begin = (share.tile - grid.whole) * grid.steps;
    const int first_owner = owner_of(grid, begin), owners = owner_of(grid, begin + grid.steps - 1) - first_owner + 1;
    if (owners == 1)
        return 1;
    const size_t room = BLOCKS * WN / 2 * 128, slot = room * CONSUMERS;
    partial += consumer * room + item * 4;
    __global COMPONENT* own = partial + slot * (2 * grid.group + (grid.group == first_owner));
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i += 4) {
        const COMPONENT* v = sums[i / (WN / 2)] + i % (WN / 2);
        *(__global JOIN(COMPONENT, 4)*)(own + i * 128) = (JOIN(COMPONENT, 4))(v[0], v[1], v[2], v[3]);
    }
    fence_acq_rel_gpu();
    bar_sync(1 + consumer, 128);
    tickets += (share.tile - grid.whole) * CONSUMERS + consumer;
    if (item == 0) {
        answer[consumer] = atomic_inc((volatile __global uint*)tickets) == owners - 1;
        if (answer[consumer])
            *tickets = 0;
    }
    bar_sync(1 + consumer, 128);
    if (!answer[consumer])
        return 0;
    fence_acq_rel_gpu();
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i++)
        sums[i / (WN / 2)][i % (WN / 2)] = 0;
    for (int owner = first_owner; owner < first_owner + owners; owner++) {
        const __global COMPONENT* other = partial + slot * (2 * owner + (owner == first_owner));
#pragma unroll
        for (int i = 0; i < BLOCKS * WN / 2; i += 4) {
            COMPONENT* v = sums[i / (WN / 2)] + i % (WN / 2);
            const JOIN(COMPONENT, 4) more = *(const __global JOIN(COMPONENT, 4)*)(other + i * 128);
            v[0] += more.x;
            v[1] += more.y;
            v[2] += more.z;
            v[3] += more.w;
        }
    }
    return 1;
}
#endif

// Starts sums = the product of one stage, plus what they were if `keep` is not 0. It runs on by itself.
INLINE void start(COMPONENT sums[BLOCKS][WN / 2], const uint a_first, const uint b_first, const int keep)
{
    const ulong a = wgmma_descriptor(a_first, BLOCK, 8 * LINE), b = wgmma_descriptor(b_first, BLOCK, 8 * LINE);
    wgmma_fence();
#pragma unroll
    for (int part = 0; part < K_STEPS; part++)
#pragma unroll
        for (int block = 0; block < BLOCKS; block++)
            MULTIPLY(WN, sums[block], a + (block * BLOCK + part * A_STEP) / 16, b + part * B_STEP / 16, part > 0 || keep,
                     A_ACROSS, B_ACROSS);
    wgmma_commit_group();
}

// sums = the product of `steps` stages, from `turn` on. Each stage is given back when it has been read.
INLINE Turn multiply(COMPONENT sums[BLOCKS][WN / 2], Turn turn, const int steps, const uint a_first, const uint b_first,
                     const uint full, const uint empty, const int item)
{
    uint last = 0;
    for (int step = 0; step < steps; step++, turn = next_turn(turn)) {
        mbarrier_wait(full + 8 * turn.stage, turn.parity);
        start(sums, a_first + turn.stage * STAGE, b_first + turn.stage * STAGE, step > 0);
        wgmma_wait_group_1();  // the stage before this one has been read
        if (step > 0 && item == 0)
            mbarrier_arrive(empty + 8 * last);
        last = turn.stage;
    }
    wgmma_wait_group_0();
#pragma unroll
    for (int block = 0; block < BLOCKS; block++)
        wgmma_ready(WN, KIND, sums[block]);
    if (item == 0)
        mbarrier_arrive(empty + 8 * last);
    return turn;
}

#if STORE_BY_TMA
// What becomes of a sum, still in the sums' type: as `finish` does it, for an element of C that another one stores.
INLINE COMPONENT finished(const COMPONENT sum, const ACC alpha, const ACC beta, const __global RESULT* C, const int inside,
                          const __global RESULT* bias)
{
#if WITH_ALPHA
    COMPONENT value = alpha * sum;
#else
    COMPONENT value = sum;
#endif
#if WITH_C
    if (inside)
        value += beta * DECODE_RESULT(*C);
#endif
#if BIAS
    if (inside)
        value += DECODE_RESULT(*bias);
#endif
    return ACTIVATE(value);
}

#define pack_half(first, second) cvt_rn_f16x2_f32(first, second)
#define pack_bfloat(first, second) cvt_rn_bf16x2_f32(first, second)
#define PACK(first, second) JOIN(pack_, RESULT_AS)(first, second)

// One slab of 64 rows from a warpgroup's finished sums to local memory, swizzled as TMA wants it.
INLINE void stage_slab(const COMPONENT* values, __local COMPONENT* slab, const int item)
{
    const int lane = item % 32, warp_row = item / 32 * 16;
#if RESULT_BYTES == 2
    const int row = warp_row + lane % 16;
#pragma unroll
    for (int j = 0; j < SLAB / 8; j += 2) {
        const COMPONENT* v = values + 4 * j;
        const uint to = local_address(slab) + row * LINE + ((j + lane / 16) ^ row % 8) * 16;
        stmatrix_x4(to, PACK(v[0], v[1]), PACK(v[2], v[3]), PACK(v[4], v[5]), PACK(v[6], v[7]));
    }
#else
    const int row = warp_row + lane / 4;
#pragma unroll
    for (int j = 0; j < SLAB / 8; j++) {
        const COMPONENT* v = values + 4 * j;
        const int column = ((2 * j + lane % 4 / 2) ^ row % 8) * 4 + lane % 2 * 2;
        __local JOIN(COMPONENT, 2)* to = (__local JOIN(COMPONENT, 2)*)(slab + row * (LINE / 4) + column);  // and 8 rows further
        to[0] = (JOIN(COMPONENT, 2))(v[0], v[1]);
        to[LINE] = (JOIN(COMPONENT, 2))(v[2], v[3]);
    }
#endif
}
#endif

// A consumer's part of a tile: where it begins in a matrix of C, and that matrix' number and sizes.
typedef struct {
    int m, n, matrix, M, N;
} Part;

// The place in C of sum number `i` of a block of 64 rows. Each work-item holds two neighbours of each 8 columns, of two rows.
INLINE int2 place_of(const Part part, const int block, const int i, const int item)
{
    return (int2)(part.m + block * 64 + item / 32 * 16 + item % 32 / 4 + i / 2 % 2 * 8,
                  part.n + i / 4 * 8 + item % 4 * 2 + i % 2);
}

// Finishes a consumer's part of a tile and stores it: slab by slab through local memory, or by each work-item itself.
INLINE void store_part(COMPONENT sums[BLOCKS][WN / 2], const Part part, const ACC alpha, const ACC beta,
                       const __global ulong* map_c, __global RESULT* C, const long c_row, const __global RESULT* bias,
                       const long bias_row, const long bias_column, __local uchar* slots, const int consumer, const int item)
{
#if STORE_BY_TMA
#pragma unroll
    for (int slab = 0; slab < SLABS; slab++) {
        const int block = slab / (WN / SLAB), across = slab % (WN / SLAB) * SLAB;
        COMPONENT* values = sums[block] + across / 2;
#pragma unroll
        for (int i = 0; i < SLAB / 2; i++) {
            const int2 at = place_of(part, block, across / 2 + i, item);
            values[i] = finished(values[i], alpha, beta, C + at.x * c_row + at.y, at.x < part.M && at.y < part.N,
                                 bias + at.x * bias_row + at.y * bias_column);
        }
        __local uchar* slot = slots + slab % SLOTS * BLOCK;
        if (item == 0) {
            if (slab == 0)
                bulk_wait_group_read();
            else
                bulk_wait_group_read_1();
        }
        bar_sync(1 + consumer, 128);
        stage_slab(values, (__local COMPONENT*)slot, item);
        fence_proxy_async();
        bar_sync(1 + consumer, 128);
        if (item == 0) {
            cp_async_bulk_tensor_3d_store(map_c, part.n + across, part.m + block * 64, part.matrix, local_address(slot));
            bulk_commit_group();
        }
    }
#else
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i += C_VEC) {
        const int block = i / (WN / 2), j = i % (WN / 2);
        const int2 at = place_of(part, block, j, item);
        if (at.x < part.M && at.y < part.N)
            finish(sums[block] + j, alpha, beta, C + at.x * c_row + at.y, bias + at.x * bias_row + at.y * bias_column,
                   bias_column);
    }
#endif
}

INLINE void make_barriers(const uint full, const uint empty)
{
    for (int stage = 0; stage < STAGES; stage++) {
        mbarrier_init(full + 8 * stage, 1);
        mbarrier_init(empty + 8 * stage, CONSUMERS);
    }
    fence_mbarrier_init();
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const int batches, const int whole, const int ranges,
          const ACC alpha, const ACC beta,
          __global ulong* map_a, __global ulong* map_b, __global ulong* map_c,
          const __global STORED* A, const long a_offset, const long a_batch,
          const __global STORED* B, const long b_offset, const long b_batch,
          __global RESULT* C, const long c_offset, const long c_row, const long c_batch,
          const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
          __global COMPONENT* partial, __global uint* tickets)
{
    __local uchar local_tiles[STAGES * STAGE + SLOTS_BYTES] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES] __attribute__((aligned(16)));
    __local int answers[CONSUMERS];

    const int item = get_local_id(0), warpgroup = item / 128;
    const uint tiles = local_address(local_tiles), full = local_address(barriers), empty = full + 8 * STAGES;
    const int tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN, steps = (K + BK - 1) / BK;
    const Grid grid = {tiles_m, tiles_n, steps, whole, (tiles_m * tiles_n * batches - whole) * steps, ranges,
                       get_group_id(0), get_num_groups(0)};

    if (item == 0)
        make_barriers(full, empty);
    // Each from a warp of its own, as each waits for global memory.
    if (item == 32)
        tensormap_address(map_a, (ulong)(A + a_offset));
    if (item == 64)
        tensormap_address(map_b, (ulong)(B + b_offset));
#if STORE_BY_TMA
    if (item == 96)
        tensormap_address(map_c, (ulong)(C + c_offset));
#endif
    barrier(CLK_LOCAL_MEM_FENCE);

    if (warpgroup == 0) {
#if PRODUCER_REGISTERS
        setmaxnreg_dec(PRODUCER_REGISTERS);
#endif
        if (item == 0)
            produce(grid, tiles, full, empty, map_a, a_batch != 0, map_b, b_batch != 0);
    } else {
#if CONSUMER_REGISTERS
        setmaxnreg_inc(CONSUMER_REGISTERS);
#endif
        const int consumer = warpgroup - 1, own_item = item % 128;
        const int own_m = consumer / CONSUMERS_N * BLOCKS * 64, own_n = consumer % CONSUMERS_N * WN;
        Turn turn = {0, 0};
        __local uchar* slots = local_tiles + STAGES * STAGE + consumer * SLOTS * BLOCK;
        for (Share share = first_share(grid); share.steps > 0; share = next_share(grid, share)) {
            const Place place = find_place(grid, share.tile);
            COMPONENT sums[BLOCKS][WN / 2];
            turn = multiply(sums, turn, share.steps, tiles + own_m * LINE, tiles + A_TILE + own_n * LINE, full, empty,
                            own_item);
#if SHARED
            if (share.steps < steps && !collect(sums, grid, share, partial, tickets, answers, consumer, own_item))
                continue;
#endif
            const Part part = {place.m + own_m, place.n + own_n, place.matrix, M, N};
            store_part(sums, part, alpha, beta, map_c, C + c_offset + place.matrix * c_batch, c_row, bias + bias_offset,
                       bias_row, bias_column, slots, consumer, own_item);
        }
#if STORE_BY_TMA
        if (own_item == 0)
            bulk_wait_group_read();
#endif
    }
}
