// The production kernel: a work-group's tile of C from panels in local memory, fetched a step ahead; 8 x 16 in registers.
//
// BM, BN, BK      the tile of C that a work-group computes, and how deep its panels of A and B are
// TM, TN          the tile of C that a work-item computes
// LANES_M, LANES_N  how 32 consecutive work-items lie in that tile
// ZIGZAG          1: neighbours hold the same columns of B (the local reads of a warp then merge in pairs), 0: plain
// GROUP_M         rows of tiles that are finished together, so that work-groups which run at a time share panels in cache
// A_ORDER, B_ORDER  PANEL_ALONG_K or PANEL_ACROSS: the direction in which the operand is read by vectors
// A_VEC, B_VEC    elements of one load; sizes, strides and alignment are multiples of it in that direction
// C_VEC           elements of one store; above 1, c_column is 1
// A_PAD, B_PAD    unused elements at the end of each row of a panel: they keep its columns out of each other's banks
// FRAGMENT, WORDS elements of one read of local memory, and components
// INDEX           type of an offset inside a tile: int, or long where a stride times a tile's side would overflow
//
// Both panels lie k-major, so that a work-item's operands are reads of 16 bytes. A ragged M or N is met by reading the
// last row again, which costs the loop nothing: what it makes is not stored. A ragged K is met in the first step, which
// alone asks whether k is in range.
//
// Work-groups: dimension 0 the tiles of C, 1 the pieces of K (k_chunk deep; piece i writes at C + i * c_split), 2 the batch.

#include "elements.cl"
#include "epilogue.cl"

#define ITEMS ((BM / TM) * (BN / TN))
#define STEP_M (BM / (TM / FRAGMENT))  // rows between a work-item's fragments of A
#define STEP_N (BN / (TN / FRAGMENT))
#define A_PITCH ((BM + A_PAD) * PARTS)
#define B_PITCH ((BN + B_PAD) * PARTS)
#define A_LOADS (BM * BK / A_VEC / ITEMS)
#define B_LOADS (BN * BK / B_VEC / ITEMS)
#define PANELS (BK * (A_PITCH + B_PITCH))  // components of a panel of A and one of B

#define PANEL_ALONG_K 0
#define PANEL_ACROSS 1

#define WORDS_TYPE JOIN(COMPONENT, WORDS)
#define WORD COMPONENT_OF
#if WORDS == 4
#define DECODE_WORDS(p, c) (WORDS_TYPE)(WORD(p, 0, c), WORD(p, 1, c), WORD(p, 2, c), WORD(p, 3, c))
#else
#define DECODE_WORDS(p, c) (WORDS_TYPE)(WORD(p, 0, c), WORD(p, 1, c))
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

INLINE void multiply(COMPONENT sum[TM][TN * PARTS], const __local COMPONENT* a_row, const __local COMPONENT* b_row)
{
#pragma unroll
    for (int k = 0; k < BK; k++) {
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

// Which tile of C this work-group computes: down GROUP_M rows of tiles, then the next column of them.
INLINE int2 choose_tile(const int M, const int N)
{
    const int tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN;
    const int band = GROUP_M * tiles_n, number = get_group_id(0);
    const int first = number / band * GROUP_M;
    const int height = min(GROUP_M, tiles_m - first);
    return (int2)(first + number % band % height, number % band / height);
}

// Which row and column of work-items this one is in.
INLINE int2 choose_lane(void)
{
    const int item = get_local_id(0), lane = item % (LANES_M * LANES_N), block = item / (LANES_M * LANES_N);
    const int blocks_n = BN / TN / LANES_N;
#if ZIGZAG
    const int2 in_block = (int2)(lane % 2 + lane / (2 * LANES_N) * 2, lane / 2 % LANES_N);
#else
    const int2 in_block = (int2)(lane / LANES_N, lane % LANES_N);
#endif
    return (int2)(block / blocks_n * LANES_M, block % blocks_n * LANES_N) + in_block;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const int k_chunk, const ACC alpha, const ACC beta,
          const __global STORED* restrict A, const long a_offset, const long a_row, const long a_column, const long a_batch,
          const __global STORED* restrict B, const long b_offset, const long b_row, const long b_column, const long b_batch,
          __global RESULT* restrict C, const long c_offset, const long c_row, const long c_column, const long c_batch,
          const long c_split, const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column)
{
    __local COMPONENT panels[2 * PANELS] __attribute__((aligned(128)));

    const int2 tile = choose_tile(M, N) * (int2)(BM, BN), lane = choose_lane() * FRAGMENT;
    const long batch = get_group_id(2), k_begin = (long)get_group_id(1) * k_chunk;
    const int depth = max((int)min((long)k_chunk, K - k_begin), 0);
    const int steps = max((depth + BK - 1) / BK, 1);
    const int first_depth = depth - (steps - 1) * BK;

    A += (a_offset + batch * a_batch + tile.x * a_row + k_begin * a_column) * PARTS;
    B += (b_offset + batch * b_batch + tile.y * b_column + k_begin * b_row) * PARTS;

    INDEX a_offsets[A_LOADS], b_offsets[B_LOADS];
    a_locate(a_offsets, M - tile.x, a_row, a_column);
    b_locate(b_offsets, N - tile.y, b_column, b_row);

    STORED a_held[A_LOADS * A_VEC * PARTS], b_held[B_LOADS * B_VEC * PARTS];
    a_fetch_first(a_held, A, a_offsets, first_depth);
    b_fetch_first(b_held, B, b_offsets, first_depth);
    A += first_depth * a_column * PARTS;
    B += first_depth * b_row * PARTS;

    COMPONENT sum[TM][TN * PARTS];
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN * PARTS; j++)
            sum[i][j] = 0;

    a_stage(panels, a_held);
    b_stage(panels + BK * A_PITCH, b_held);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int step = 1; step <= steps; step++) {
        const __local COMPONENT* current = panels + (step - 1) % 2 * PANELS;
        __local COMPONENT* next = panels + step % 2 * PANELS;
        if (step < steps) {
            a_fetch(a_held, A, a_offsets);
            b_fetch(b_held, B, b_offsets);
            A += BK * a_column * PARTS;
            B += BK * b_row * PARTS;
        }
        multiply(sum, current + lane.x * PARTS, current + BK * A_PITCH + lane.y * PARTS);
        if (step < steps) {
            a_stage(next, a_held);
            b_stage(next + BK * A_PITCH, b_held);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }

    C += (c_offset + batch * c_batch + get_group_id(1) * c_split) * PARTS;
#pragma unroll
    for (int i = 0; i < TM; i++) {
        const int row = tile.x + lane.x + i / FRAGMENT * STEP_M + i % FRAGMENT;
#pragma unroll
        for (int j = 0; j < TN; j += C_VEC) {
            const int column = tile.y + lane.y + j / FRAGMENT * STEP_N + j % FRAGMENT;
            if (row < M && column < N)
                finish(sum[i] + j * PARTS, alpha, beta, C + (row * c_row + column * c_column) * PARTS,
                       bias + (bias_offset + row * bias_row + column * bias_column) * PARTS, bias_column);
        }
    }
}
