// A matrix that lies along its columns, times a few columns: A is multiplied where it lies, and comes from memory once.
//
// C = activation(alpha * A * B + beta * C + bias), where a column of A has no gaps and B has at most MOST_COLUMNS columns.
// few_columns.cl is for A along its rows. Here vectors run down A's columns: a lane is a row of C, and its sum is one chain of
// multiply-adds in ascending k. No lanes are left to add up.
//
//      for each `kb` steps of K                   their rows of B are packed, in level 1
//          for each VECTORS vectors of rows       a run of each of kb columns of A comes from memory, and stays in level 1
//              for each COLUMNS columns of B      VECTORS x COLUMNS sums in registers; those of other rows wait in level 2
//
// Group (x, 0, z) does `mb` rows of matrix z. Its sums of a column of C lie in `sum_row` elements.
//
// SUMS     sums that a work-item keeps: in its level-2 cache
// DEPTH    the most steps of K in a block, so that the runs of A that are used for all of B's columns stay in level 1
#define MR 1
#define NR MOST_COLUMNS

#include "vectors.cl"
#include "pack.cl"
#include "finish.cl"

#define ROWS (VECTORS * VW)

// Tall runs of A are multiplied where they lie. What is left of rows, less than VECTORS vectors of them, is copied first, so that
// it ends with zeros where the last vector does.
#define HEIGHT tall
#define RUN_VECTORS VECTORS
#define FROM const __global IN *
#define LOAD_FROM(p) LOAD_IN(p)
#define ASK_AHEAD(p) PREFETCH(p)
#include "multiply_down.cl"
#undef HEIGHT
#undef RUN_VECTORS
#undef FROM
#undef LOAD_FROM
#undef ASK_AHEAD
#define HEIGHT low
#define RUN_VECTORS 1
#define FROM const REAL *
#define LOAD_FROM(p) AT(p)
#define ASK_AHEAD(p)
#include "multiply_down.cl"

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm(int M, int N, int K, ACC alpha, ACC beta,
          const __global IN *restrict A, long a_offset, long a_column, long a_batch,
          const __global IN *restrict B, long b_offset, long b_row, long b_column, long b_batch,
          __global OUT *restrict C, long c_offset, long c_row, long c_column, long c_batch,
          const __global OUT *restrict bias, long bias_offset, long bias_row, long bias_column, int mb, int kb, int sum_row)
{
    REAL x[DEPTH * NR] __attribute__((aligned(LINE_BYTES)));
    REAL sum[SUMS] __attribute__((aligned(LINE_BYTES)));
    REAL rest[DEPTH * ROWS] __attribute__((aligned(LINE_BYTES)));
    const int i0 = get_group_id(0) * mb, rows = min(mb, M - i0), whole = rows / ROWS * ROWS;
    A += a_offset + get_group_id(2) * a_batch + i0;
    B += b_offset + get_group_id(2) * b_batch;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row;

    for (int i = 0; rows > whole && i < DEPTH * ROWS; i += VW)
        AT(rest + i) = 0;
    for (int k0 = 0; k0 < K; k0 += kb) {
        const int depth = min(kb, K - k0), first = k0 == 0;
        const __global IN *a = A + k0 * a_column;
        pack(x, NR, 0, B + k0 * b_row, b_row, b_column, depth, N, 0);
        multiply_tall(sum, sum_row, a, a_column, x, whole, depth, N, first);
        if (rows > whole) {
            pack(rest, ROWS, 0, a + whole, a_column, 1, depth, rows - whole, 0);
            multiply_low(sum + whole, sum_row, rest, ROWS, x, rows - whole, depth, N, first);
        }
    }
    Target target = {
        .c = C, .row = c_column, .column = c_row,
#if !SCRATCH_SUMS
        .partial = C,
#endif
        .partial_row = c_column, .partial_column = c_row,
#if BIAS
        .bias = bias + bias_offset + i0 * bias_row, .bias_row = bias_column, .bias_column = bias_row,
#endif
        .alpha = alpha, .beta = beta, .first = 1, .last = 1};
    if (c_row == 1) {
        for (int j = 0; j < N; j++) {
            finish(sum + j * sum_row, 1, rows, 0, &target);
            target.c += c_column;
#if BIAS
            target.bias += bias_column;
#endif
        }
        return;
    }
    target.row = c_row, target.column = c_column;
#if BIAS
    target.bias_row = bias_row, target.bias_column = bias_column;
#endif
    REAL tile[VW * NR] __attribute__((aligned(LINE_BYTES)));
    for (int i = 0; i < rows; i += VW) {
        for (int j = 0; j < N; j += VW) {
            vec block[VW];
#pragma unroll
            for (int t = 0; t < VW; t++)
                block[t] = AT(sum + min(j + t, N - 1) * sum_row + i);
            transpose(block);
#pragma unroll
            for (int t = 0; t < VW; t++)
                AT(tile + t * NR + j) = block[t];
        }
        finish(tile, min(VW, rows - i), N, 0, &target);
        target.c += VW * c_row;
#if BIAS
        target.bias += VW * bias_row;
#endif
    }
}
