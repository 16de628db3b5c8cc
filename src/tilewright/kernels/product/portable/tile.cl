// How a work-group computes its tile of C: from panels in local memory, loaded a step ahead; up to 8 x 16 in registers.
//
// BM, BN, BK      the tile of C that a work-group computes, and how deep its panels of A and B are
// TM, TN          the tile of C that a work-item computes
// LANES_M, LANES_N  how 32 consecutive work-items lie in that tile
// LANE_SWIZZLE    1: the work-items of a warp zigzag over its tile, so that neighbours read the same columns of B, and local reads
//                 merge in pairs; 0: row after row
// SLICED_K        slices of a panel's depth (split-K inside a work-group): each is multiplied by its own work-items for the whole tile
// GROUP_M         rows of tiles of a swizzle group: work-groups that run at a time then share panels in the L2 cache
// A_ORDER, B_ORDER  PANEL_ALONG_K or PANEL_ACROSS: the direction in which the operand is read by vectors
// A_VEC, B_VEC    elements of one load; sizes, strides and alignment are multiples of it in that direction
// C_VEC           elements of one store; above 1, c_column is 1
// GATHERED        rows of a work-item's tile that go through local memory together, so that a warp stores whole rows side by side: where
//                 stores are narrower than a fragment, as those of odd rows are. 0: each work-item stores its own
// A_PAD, B_PAD    unused elements at the end of each row of a panel: they keep its columns out of each other's banks
// FRAGMENT, WORDS elements of one read of local memory, and components
// INDEX           type of an offset inside a tile: int, or long where a stride times a tile's side would overflow
//
// Both panels lie k-major, so that a work-item's operands are reads of 16 bytes. A ragged M or N is met by reading the
// last row again, which costs the loop nothing: what it makes is not stored. A ragged K is met in the first step, which
// alone asks whether k is in range.

#include "../elements.cl"
#include "../epilogue.cl"

#define SLICE_ITEMS ((BM / TM) * (BN / TN))
#define ITEMS (SLICE_ITEMS * SLICED_K)
#define SLICE_DEPTH (BK / SLICED_K)
#define STEP_M (BM / (TM / FRAGMENT))  // rows between a work-item's fragments of A
#define STEP_N (BN / (TN / FRAGMENT))
#define A_PITCH ((BM + A_PAD) * PARTS)
#define B_PITCH ((BN + B_PAD) * PARTS)
#define A_LOADS (BM * BK / A_VEC / ITEMS)
#define B_LOADS (BN * BK / B_VEC / ITEMS)
#define PANELS (BK * (A_PITCH + B_PITCH))  // components of a panel of A and one of B
#define SUMS (SLICED_K / 2 * BM * BN * PARTS)  // components of what half of the slices hold
#define GATHERED_ROWS (GATHERED * (BM / TM))
#if GATHERED_ROWS * BN * PARTS > 2 * PANELS && GATHERED_ROWS * BN * PARTS > SUMS
#define LOCAL_COMPONENTS (GATHERED_ROWS * BN * PARTS)
#elif SUMS > 2 * PANELS
#define LOCAL_COMPONENTS SUMS
#else
#define LOCAL_COMPONENTS (2 * PANELS)
#endif

#include "../scheduler.cl"

#define PANEL_ALONG_K 0
#define PANEL_ACROSS 1

#define WORDS_TYPE JOIN(COMPONENT, WORDS)
#define WORD COMPONENT_OF
#if WORDS == 4
#define DECODE_WORDS(p, c) MAKE4(COMPONENT, WORD(p, 0, c), WORD(p, 1, c), WORD(p, 2, c), WORD(p, 3, c))
#else
#define DECODE_WORDS(p, c) MAKE2(COMPONENT, WORD(p, 0, c), WORD(p, 1, c))
#endif

#define NAME(x) a_##x
#define SIDE BM
#define ORDER A_ORDER
#define WIDTH A_VEC
#define LOADS A_LOADS
#define PITCH A_PITCH
#define CONJUGATE CONJUGATE_A
#define TILE TM
#include "panel.cl"

#define NAME(x) b_##x
#define SIDE BN
#define ORDER B_ORDER
#define WIDTH B_VEC
#define LOADS B_LOADS
#define PITCH B_PITCH
#define CONJUGATE CONJUGATE_B
#define TILE TN
#include "panel.cl"

INLINE void multiply(COMPONENT sum[TM][TN * PARTS], const local COMPONENT* a_row, const local COMPONENT* b_row)
{
#pragma unroll
    for (int k = 0; k < SLICE_DEPTH; k++) {
        COMPONENT a[TM * PARTS], b[TN * PARTS];
        a_read(a, a_row + k * A_PITCH);
        b_read(b, b_row + k * B_PITCH);
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++)
                multiply_add(sum[i] + j * PARTS, a + i * PARTS, b + j * PARTS);
    }
}

// Which row and column of work-items this one is in.
INLINE int2 choose_lane(void)
{
    const int item = get_local_id(0) % SLICE_ITEMS, lane = item % (LANES_M * LANES_N), block = item / (LANES_M * LANES_N);
    const int blocks_n = BN / TN / LANES_N;
#if LANE_SWIZZLE
    const int2 in_block = MAKE2(int, lane % 2 + lane / (2 * LANES_N) * 2, lane / 2 % LANES_N);
#else
    const int2 in_block = MAKE2(int, lane / LANES_N, lane % LANES_N);
#endif
    return MAKE2(int, block / blocks_n * LANES_M, block % blocks_n * LANES_N) + in_block;
}

#if SLICED_K > 1
// Adds up the sums of all slices, the upper half of them to the lower half each time. In the end the first slice has the sums.
INLINE void reduce_slices(COMPONENT sum[TM][TN * PARTS], local COMPONENT* loaded, const int slice)
{
    const int item = get_local_id(0) % SLICE_ITEMS;
#pragma unroll
    for (int others = SLICED_K / 2; others > 0; others /= 2) {
        local COMPONENT* own = loaded + slice % others * TM * TN * PARTS * SLICE_ITEMS + item;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice >= others && slice < 2 * others)
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN * PARTS; j++)
                    own[(i * TN * PARTS + j) * SLICE_ITEMS] = sum[i][j];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice < others)
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN * PARTS; j++)
                    sum[i][j] = ADD(sum[i][j], own[(i * TN * PARTS + j) * SLICE_ITEMS]);
    }
}
#endif

// The tile's sums over `depth` of k, from its first rows of A and columns of B on, for rows and columns left of C. With
// slices, the first one has them.
INLINE void compute_tile(COMPONENT sum[TM][TN * PARTS], local COMPONENT* panels, const int depth,
                         const __global STORED* A, const int rows, const long a_row, const long a_column,
                         const __global STORED* B, const int columns, const long b_row, const long b_column)
{
    const int2 lane = choose_lane() * FRAGMENT;
    const int slice = get_local_id(0) / SLICE_ITEMS;
    const int steps = max((depth + BK - 1) / BK, 1);
    const int first_depth = depth - (steps - 1) * BK;

    INDEX a_offsets[A_LOADS], b_offsets[B_LOADS];
    a_locate(a_offsets, rows, a_row, a_column);
    b_locate(b_offsets, columns, b_column, b_row);

    STORED a_loaded[A_LOADS * A_VEC * PARTS], b_loaded[B_LOADS * B_VEC * PARTS];
    a_load_first(a_loaded, A, a_offsets, first_depth);
    b_load_first(b_loaded, B, b_offsets, first_depth);
    A += first_depth * a_column * PARTS;
    B += first_depth * b_row * PARTS;

#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN * PARTS; j++)
            sum[i][j] = 0;

    a_store(panels, a_loaded);
    b_store(panels + BK * A_PITCH, b_loaded);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int step = 1; step <= steps; step++) {
        const local COMPONENT* current = panels + (step - 1) % 2 * PANELS;
        local COMPONENT* next = panels + step % 2 * PANELS;
        if (step < steps) {
            a_load(a_loaded, A, a_offsets);
            b_load(b_loaded, B, b_offsets);
            A += BK * a_column * PARTS;
            B += BK * b_row * PARTS;
        }
        const local COMPONENT* a_words = current + slice * SLICE_DEPTH * A_PITCH + lane.x * PARTS;
        const local COMPONENT* b_words = current + BK * A_PITCH + slice * SLICE_DEPTH * B_PITCH + lane.y * PARTS;
        multiply(sum, a_words, b_words);
        if (step < steps) {
            a_store(next, a_loaded);
            b_store(next + BK * A_PITCH, b_loaded);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
#if SLICED_K > 1
    reduce_slices(sum, panels, slice);
#endif
}

#if GATHERED
// Finishes the tile and stores what of it lies within M x N. `C` is the matrix's first element, `tile` the tile's place. All
// work-items must get here; those of the first slice have the sums. `gathered` is local memory that no one uses any more.
//
// A work-item's own columns lie a fragment apart from its neighbour's: single elements of them are a quarter of each sector
// that a store touches, which the L2 cache then gets four times.
INLINE void store_tile(COMPONENT sum[TM][TN * PARTS], local COMPONENT* gathered, const int2 tile, const int M, const int N,
                       const ACC alpha, const ACC beta, __global RESULT* C, const long c_row, const long c_column,
                       const __global RESULT* bias, const long bias_row, const long bias_column)
{
    const int2 lane = choose_lane();
#pragma unroll
    for (int first = 0; first < TM; first += GATHERED) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) < SLICE_ITEMS)
#pragma unroll
            for (int i = 0; i < GATHERED; i++)
#pragma unroll
                for (int j = 0; j < TN; j += FRAGMENT)
                    *(local WORDS_TYPE*)(gathered + ((lane.x * GATHERED + i) * BN + lane.y * FRAGMENT + j / FRAGMENT * STEP_N) * PARTS) =
                        JOIN(vload, WORDS)(0, sum[first + i] + j * PARTS);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int vector = get_local_id(0); vector < GATHERED_ROWS * (BN / C_VEC); vector += ITEMS) {
            const int line = vector / (BN / C_VEC), column = tile.y + vector % (BN / C_VEC) * C_VEC, i = first + line % GATHERED;
            const int row = tile.x + line / GATHERED * FRAGMENT + i / FRAGMENT * STEP_M + i % FRAGMENT;
            if (row < M && column < N) {
                COMPONENT own[C_VEC * PARTS];
#pragma unroll
                for (int word = 0; word < C_VEC * PARTS; word++)
                    own[word] = gathered[(line * BN + column - tile.y) * PARTS + word];
                finish(own, alpha, beta, C + (row * c_row + column * c_column) * PARTS,
                       bias + (row * bias_row + column * bias_column) * PARTS, bias_column);
            }
        }
    }
}
#else
// The same without local memory.
INLINE void store_tile(COMPONENT sum[TM][TN * PARTS], local COMPONENT* gathered, const int2 tile, const int M, const int N,
                       const ACC alpha, const ACC beta, __global RESULT* C, const long c_row, const long c_column,
                       const __global RESULT* bias, const long bias_row, const long bias_column)
{
    if (get_local_id(0) >= SLICE_ITEMS)
        return;
    const int2 first = tile + choose_lane() * FRAGMENT;
#pragma unroll
    for (int i = 0; i < TM; i++) {
        const int row = first.x + i / FRAGMENT * STEP_M + i % FRAGMENT;
#pragma unroll
        for (int j = 0; j < TN; j += C_VEC) {
            const int column = first.y + j / FRAGMENT * STEP_N + j % FRAGMENT;
            if (row < M && column < N)
                finish(sum[i] + j * PARTS, alpha, beta, C + (row * c_row + column * c_column) * PARTS,
                       bias + (row * bias_row + column * bias_column) * PARTS, bias_column);
        }
    }
}
#endif
