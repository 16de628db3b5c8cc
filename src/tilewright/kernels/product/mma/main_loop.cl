// The product by mma.sync: warps multiply from panels in local memory, which copies that run by themselves fill ahead.
//
// BM, BN, BK          the tile of C that a work-group computes, and how deep its panels of A and B are: BK times the bytes
//                     of an element is a multiple of 128
// WARPS_M, WARPS_N    how its warps lie in that tile
// WARPS_K             slices of every panel's depth (sliced-K), whole lines of 128 bytes: each has its own WARPS_M x WARPS_N warps
// STAGES              panels of each operand: one is multiplied, the others are being filled
// GROUP_M             rows of tiles that are finished together
// FRAGMENTS           the file that knows the element type: how operands are read, and what multiplies them
// A_ORDER, B_ORDER    PANEL_ALONG_K or PANEL_ACROSS: the direction in which the operand is read, and lies in its panel
// A_WIDTH, B_WIDTH    elements of one copy; strides and alignment are multiples of it in that direction
// A_COPY, B_COPY      the instruction that copies so many
// PARTIAL             1 if a size is no multiple of the width of a copy along it
// C_VEC               elements of one store: 2, if c_column is 1 and rows are aligned to that, or 1
// STREAM_K            1 if the tiles of the tail wave are split among work-groups
//
// A work-group computes one part of the product after the other (scheduler.cl), and its copies know no end of a part: while
// the last panels of one are multiplied and its tile is stored, the first panels of the next arrive. What lies beyond M, N
// or K is zero in the panels and not read from memory, so the loop knows no edges.
//
// A warp multiplies its tile row by row of 16 x 8. When it has issued a row's instructions it reads the operands of A of
// the row before for the next MMA_K of k: by then those are no longer in use, and there is time until they are wanted. So A
// needs no second set of registers, and the compiler keeps everything in 255. Reads of B and copies are dealt out evenly
// over the rows, too: a warp issues in order, and many of them at a time would keep it from the matrix units. With two rows
// there is no such time, but there are registers: all operands of the next MMA_K are read after the first row.
//
// A small result has few tiles, so these must be small, and still have a warp for each of an SM's four matrix
// units. Side by side these warps would have tiles so small that local memory cannot be read as fast as they multiply.
// With WARPS_K they have larger ones, and each multiplies a slice of every panel's depth (sliced_k.cl). What comes before the
// first copy and after the last product counts then: the fewer instructions, the better.

#define PANEL_ALONG_K 0
#define PANEL_ACROSS 1
#define BLOCK (128 / ITEM_BYTES)  // elements of k in a line of a panel that lies along k

#include "../elements.cl"
#include "../epilogue.cl"
#include "FRAGMENTS"
#define SKIP_DIVISIONS 1
#include "../scheduler.cl"

#if PARTS == 2
#define ELEMENT JOIN(STORED, 2)
#else
#define ELEMENT STORED
#endif
#define SLICE_ITEMS (32 * WARPS_M * WARPS_N)  // that have the same slice of the depth
#define ITEMS (SLICE_ITEMS * WARPS_K)
#define WARP_M (BM / WARPS_M)  // the tile of C that a warp computes
#define WARP_N (BN / WARPS_N)
#define TILES_M (WARP_M / 16)   // and its tiles of 16 x 8
#define OCTETS (WARP_N / 8)     // eight columns of B each
#define TILES_N (OCTETS * PARTS)  // complex numbers have two tiles of sums for eight columns
#define A_BYTES (BM * BK * ITEM_BYTES)
#define B_BYTES (BN * BK * ITEM_BYTES)
#define STAGE_BYTES (A_BYTES + B_BYTES)
#define K_STEPS (BK / WARPS_K / MMA_K)  // of a warp's slice of a panel, each for one instruction
#define SUMS (BM * BN * PARTS / ITEMS)  // of the tile, that a work-item finishes: all that it has, but for WARPS_K
#define A_COPIES (BM * BK / A_WIDTH / ITEMS)  // of a work-item for one panel
#define B_COPIES (BN * BK / B_WIDTH / ITEMS)
#define PLACES ((K_STEPS - 1) * TILES_M + 1)   // rows of a step after which copies are started: those before the barrier
#define A_SETS (TILES_M <= 2 ? 2 : 1)         // of operands of A that a warp holds

#define NAME(x) a_##x
#define SIDE BM
#define ORDER A_ORDER
#define WIDTH A_WIDTH
#define COPY A_COPY
#include "panel.cl"

#define NAME(x) b_##x
#define SIDE BN
#define ORDER B_ORDER
#define WIDTH B_WIDTH
#define COPY B_COPY
#include "panel.cl"

#include "sliced_k.cl"
#if STREAM_K
#define PARTIAL_WIDTH 2
#define PARTIAL_VECTORS (SUMS / 2)
#define PARTIAL_ITEMS ITEMS
#include "../fixup.cl"
#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void product(const int M, const int N, const int K, const ACC alpha, const ACC beta, const int whole, const int tiles,
             const __global STORED* restrict A, const long a_offset, const long a_row, const long a_column, const long a_batch,
             const __global STORED* restrict B, const long b_offset, const long b_row, const long b_column, const long b_batch,
             __global RESULT* C, const long c_offset, const long c_row, const long c_column, const long c_batch,
             const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
             __global COMPONENT* partial, volatile __global int* semaphores)
{
    __local uchar panels[STAGES * STAGE_BYTES] __attribute__((aligned(128)));
#if STREAM_K
    __local int arrived;
#endif
#if WARPS_K > 1
    __local PAIR sums_of_slices[WARPS_K * BM * BN * PARTS / 2];
#endif
    const int item = get_local_id(0), lane = item % 32, slice = WARPS_K > 1 ? item / SLICE_ITEMS : 0;
    const int2 warp = MAKE2(int, item / 32 / WARPS_N % WARPS_M * WARP_M, item / 32 % WARPS_N * WARP_N);
    const int a_slice = slice * (A_BYTES / WARPS_K), b_slice = A_BYTES + slice * (B_BYTES / WARPS_K);
    const int steps = max((K + BK - 1) / BK, 1);

    // Copying runs ahead of multiplying: `next` is the part whose panels are being copied, from `a` and `b` on.
    Work next = before_work(whole, tiles, steps);
    const __global ELEMENT *a, *b;
    int rows, columns, a_left, b_left, filling = 0;
    // Where a copy is of several elements, they lie side by side.
    const long a_row_step = ((A_ORDER == PANEL_ACROSS) & (A_WIDTH > 1)) ? 1 : a_row;
    const long a_k_step = ((A_ORDER == PANEL_ALONG_K) & (A_WIDTH > 1)) ? 1 : a_column;
    const long b_k_step = ((B_ORDER == PANEL_ALONG_K) & (B_WIDTH > 1)) ? 1 : b_row;
    const long b_column_step = ((B_ORDER == PANEL_ACROSS) & (B_WIDTH > 1)) ? 1 : b_column;
    const __global ELEMENT *matrix_a = (const __global ELEMENT*)A + a_offset, *matrix_b = (const __global ELEMENT*)B + b_offset;

// What follows are macros, since functions would need nearly all of the kernel's variables.
//
// Begins to copy the part `next`, whose tile begins at `tile`.
#define COPY_FROM(tile)                                                                                              \
    {                                                                                                                \
        const int4 begin = tile;                                                                                     \
        const int k = next.first * BK;                                                                               \
        rows = M - begin.x, columns = N - begin.y;                                                                   \
        a = matrix_a + begin.z * a_batch + begin.x * a_row_step + k * a_k_step;                                      \
        b = matrix_b + begin.z * b_batch + begin.y * b_column_step + k * b_k_step;                                   \
        a = a_begin(a, a_row_step, a_k_step), b = b_begin(b, b_column_step, b_k_step);                               \
        a_left = a_depth(rows, K - k), b_left = b_depth(columns, K - k);                                             \
    }

// Goes on to the next part. When nothing is left to copy, panels of zeros are made, so that the loop need not ask: only with
// WARPS_K it does, since its products have so few steps. Before the loop nothing is copied then, and what the panels hold is
// never multiplied.
#define GO_ON_COPYING                                                                                                \
    {                                                                                                                \
        next_work(&next, whole, tiles, steps);                                                                       \
        if (next.first < next.last)                                                                                  \
            COPY_FROM(tile_origin(next.number, M, N))                                                                 \
        else                                                                                                         \
            rows = columns = a_left = b_left = 0;                                                                    \
    }

// Starts copy number `copy` of a step.
#define START_COPY(copy)                                                                                             \
    {                                                                                                                \
        const uint to = local_address(panels) + filling * STAGE_BYTES;                                               \
        if ((copy) < A_COPIES)                                                                                       \
            a_copy(copy, to, a, rows, a_left, a_row_step, a_k_step);                                                 \
        else                                                                                                         \
            b_copy((copy) - A_COPIES, to + A_BYTES, b, columns, b_left, b_column_step, b_k_step);                    \
    }

#define FINISH_STAGE                                                                                                 \
    {                                                                                                                \
        cp_async_commit_group();                                                                                     \
        a += BK * a_k_step, b += BK * b_k_step, a_left -= BK, b_left -= BK;                                          \
        filling = filling == STAGES - 1 ? 0 : filling + 1;                                                           \
    }

    next_work(&next, whole, tiles, steps);
    Work work = next;
    int4 tile = tile_origin(work.number, M, N);
    COPY_FROM(tile)
#pragma unroll 1
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (next.first < next.last)
#pragma unroll
            for (int copy = 0; copy < A_COPIES + B_COPIES; copy++)
                START_COPY(copy)
        FINISH_STAGE
        if (next.first < next.last && ++next.first == next.last)
            GO_ON_COPYING
    }
    cp_async_wait_group(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);

    FRAGMENT a_fragments[A_SETS][TILES_M][A_PARTS], b_fragments[2][TILES_N * B_PARTS];
#pragma unroll
    for (int i = 0; i < TILES_M - 2 + A_SETS; i++)
        read_a(a_fragments[0][i], panels + a_slice, warp.x + i * 16, 0);
#pragma unroll
    for (int j = 0; j < TILES_N; j += B_TILES)
        read_b(b_fragments[0] + j * B_PARTS, panels + b_slice, warp.y + j / PARTS * 8, 0);
    COMPONENT sum[TILES_M][TILES_N][4];
#pragma unroll
    for (int i = 0; i < SUMS * WARPS_K; i++)
        sum[i / 4 / TILES_N][i / 4 % TILES_N][i % 4] = 0;

    int reading = 0, done = work.first;
    while (work.first < work.last) {
        // As many steps as both parts, that which is multiplied and that which is copied, have left.
        const int left = next.last - next.first, count = min(work.last - done, left > 0 ? left : work.last - done);
        for (int step = 0; step < count; step++) {
            const local uchar* stage = panels + reading * STAGE_BYTES;
#pragma unroll
            for (int k_step = 0; k_step < K_STEPS; k_step++) {
                const int k = k_step * MMA_K, next_k = (k_step + 1) % K_STEPS * MMA_K;
#pragma unroll
                for (int i = 0; i < TILES_M; i++) {
#pragma unroll
                    for (int j = 0; j < TILES_N; j++)
                        multiply(sum[i][j], a_fragments[k_step % A_SETS][i], b_fragments[k_step % 2] + j * B_PARTS);
#pragma unroll
                    for (int copy = 0; copy < A_COPIES + B_COPIES; copy++)
                        if (copy * PLACES / (A_COPIES + B_COPIES) == k_step * TILES_M + i)
                            if (WARPS_K == 1 || left > 0)
                                START_COPY(copy)
                    if (A_SETS == 1 && i == 0)
                        read_a(a_fragments[0][TILES_M - 1], stage + a_slice, warp.x + (TILES_M - 1) * 16, k);
                    if (i == 0 && k_step == K_STEPS - 1) {
                        FINISH_STAGE
                        cp_async_wait_group(STAGES - 2);
                        barrier(CLK_LOCAL_MEM_FENCE);
                        reading = reading == STAGES - 1 ? 0 : reading + 1;
                        stage = panels + reading * STAGE_BYTES;
                    }
#pragma unroll
                    for (int row = 0; row < TILES_M; row++)
                        if (A_SETS == 1 ? row == i - 1 : i == 0)
                            read_a(a_fragments[(k_step + 1) % A_SETS][row], stage + a_slice, warp.x + row * 16, next_k);
#pragma unroll
                    for (int j = 0; j < TILES_N; j += B_TILES)
                        if ((A_SETS == 1 ? j * TILES_M / TILES_N : 0) == i)
                            read_b(b_fragments[(k_step + 1) % 2] + j * B_PARTS, stage + b_slice, warp.y + j / PARTS * 8, next_k);
                }
            }
        }
        done += count;
        if (left > 0 && (next.first += count) == next.last)
            GO_ON_COPYING
        if (done < work.last)
            continue;
        COMPONENT own[SUMS];
#if WARPS_K > 1
        reduce_slices(own, sum, sums_of_slices);
#else
        all_sums(own, sum);
#endif
        int complete = 1;
#if STREAM_K
        if (work.last - work.first < steps) {
            const int tile_of_tail = work.number - whole;
            const TileGroups groups = groups_of(tile_of_tail, steps, (tiles - whole) * steps);
            // Counted over all tiles, the partial tiles before this one's are one for each group before, and one for each tile.
            __global COMPONENT* partials = partial + (size_t)(groups.first + tile_of_tail) * SUMS * ITEMS;
            store_partial(own, partials, get_group_id(0) - groups.first);
            complete = 0;
            if (arrives_last(semaphores + work.number - whole, groups.count, &arrived)) {
                add_partials(own, partials, groups.count);
                complete = 1;
            }
        }
#endif
#pragma unroll
        for (int i = 0; i < SUMS; i += C_VEC * PARTS) {
            const int octet = (slice * SUMS + i) / (2 * PARTS);  // of eight rows and columns, row by row
            const int row = tile.x + warp.x + octet / OCTETS * 8 + lane / 4;
            const int column = tile.y + warp.y + octet % OCTETS * 8 + lane % 4 * 2 + i / PARTS % 2;
            if (complete && row < M && column < N)
                finish(own + i, alpha, beta, C + (c_offset + tile.z * c_batch + row * c_row + column * c_column) * PARTS,
                       bias + (bias_offset + row * bias_row + column * bias_column) * PARTS, bias_column);
        }
#pragma unroll
        for (int i = 0; i < SUMS * WARPS_K; i++)
            sum[i / 4 / TILES_N][i / 4 % TILES_N][i % 4] = 0;
        next_work(&work, whole, tiles, steps);
        if (work.first < work.last)
            tile = tile_origin(work.number, M, N);
        done = work.first;
    }
    cp_async_wait_group(0);
}
