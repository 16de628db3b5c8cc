// A matrix that lies along its columns, times a few columns: A is multiplied where it lies, and comes from memory once.
//
// C = activation(alpha * A * B + beta * C + bias), where a column of A has no gaps and B has at most MOST_COLUMNS columns.
// few_columns.cl is for A along its rows. Here vectors run down A's columns: a lane is a row of C, and its sum is one chain of
// multiply-adds in ascending k, of which nothing is left to add up.
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

#if REAL_IS_INTEGER
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#else
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#endif

// sum[j][:] += A[:, k] * x[k][j] over `depth` steps, for that many vectors of rows and columns of B.
static inline __attribute__((always_inline)) void multiply(REAL *sum, int sum_row, const __global IN *a, long a_column,
                                                           const REAL *x, int depth, int first,
                                                           const int vectors, const int columns)
{
    vec own[VECTORS * COLUMNS];
#pragma unroll
    for (int c = 0; c < columns; c++)
#pragma unroll
        for (int v = 0; v < vectors; v++)
            own[c * vectors + v] = first ? (vec)(0) : AT(sum + c * sum_row + v * VW);
    for (int k = 0; k < depth; k++) {
        vec factor[VECTORS];
#pragma unroll
        for (int v = 0; v < vectors; v++)
            factor[v] = LOAD_IN(a + v * VW);
#pragma unroll
        for (int v = 0; v < vectors; v++)
            PREFETCH(a + ROWS + v * VW);
#pragma unroll
        for (int c = 0; c < columns; c++) {
            const vec other = (vec)(x[c]);
#pragma unroll
            for (int v = 0; v < vectors; v++)
                own[c * vectors + v] = multiply_add(factor[v], other, own[c * vectors + v]);
        }
        a += a_column;
        x += NR;
    }
#pragma unroll
    for (int c = 0; c < columns; c++)
#pragma unroll
        for (int v = 0; v < vectors; v++)
            AT(sum + c * sum_row + v * VW) = own[c * vectors + v];
}

// A function for each number of columns, for tall runs of VECTORS vectors and for short ones of one.
#define MULTIPLY(height, vectors, columns)                                                                             \
    static __attribute__((noinline)) void height##_##columns(REAL *sum, int sum_row, const __global IN *a, long a_column, \
                                                             const REAL *x, int depth, int first)                       \
    {                                                                                                                   \
        multiply(sum, sum_row, a, a_column, x, depth, first, vectors, columns);                                         \
    }
#define PASS(height, columns)                                                                                          \
    case columns:                                                                                                       \
        height##_##columns(sum + i + j * sum_row, sum_row, from, a_column, x + j, depth, first);                        \
        break
#define MULTIPLY_ROWS(height, vectors)                                                                                 \
    MULTIPLY(height, vectors, 1)                                                                                        \
    MULTIPLY(height, vectors, 2)                                                                                        \
    MULTIPLY(height, vectors, 3)                                                                                        \
    MULTIPLY(height, vectors, 4)                                                                                        \
    MULTIPLY(height, vectors, 5)                                                                                        \
    MULTIPLY(height, vectors, 6)                                                                                        \
    static void multiply_##height(REAL *sum, int sum_row, const __global IN *a, long a_column, const REAL *x, int rows, \
                                  int depth, int columns, int first)                                                    \
    {                                                                                                                   \
        const int passes = (columns + COLUMNS - 1) / COLUMNS, together = (columns + passes - 1) / passes;               \
        for (int i = 0; i < rows; i += vectors * VW) {                                                                  \
            const __global IN *from = a + min(i, rows - vectors * VW);                                                  \
            for (int j = 0; j < columns; j += together) {                                                               \
                switch (min(together, columns - j)) {                                                                   \
                    PASS(height, 1);                                                                                    \
                    PASS(height, 2);                                                                                    \
                    PASS(height, 3);                                                                                    \
                    PASS(height, 4);                                                                                    \
                    PASS(height, 5);                                                                                    \
                    PASS(height, 6);                                                                                    \
                }                                                                                                       \
            }                                                                                                           \
        }                                                                                                               \
    }

#if COLUMNS != 6
#error COLUMNS is the most that there is a function for
#endif
MULTIPLY_ROWS(tall, VECTORS)
MULTIPLY_ROWS(short_run, 1)

// The same by the element, for less than a vector of rows.
static void multiply_elements(REAL *sum, int sum_row, const __global IN *a, long a_column, const REAL *x, int rows,
                              int depth, int columns, int first)
{
    for (int j = 0; j < columns; j++) {
        for (int i = 0; i < rows; i++) {
            REAL own = first ? 0 : sum[j * sum_row + i];
            for (int k = 0; k < depth; k++)
                own = MULTIPLY_ADD((REAL)GET_IN(a + i + k * a_column), x[k * NR + j], own);
            sum[j * sum_row + i] = own;
        }
    }
}

// Sums of rows that were computed by vectors of `block` rows, the last of which slid back to end at the edge: its sums have
// a place of their own, so that no row is added to twice. Here they move to their rows' places.
static void part_rows(REAL *sum, int sum_row, int rows, int columns, int block)
{
    const int whole = rows / block * block, rest = rows - whole;
    for (int j = 0; rest && j < columns; j++) {
        REAL *last = sum + j * sum_row + whole;
        for (int i = 0; i < rest; i += VW)
            AT(last + i) = LOOSE_AT(last + i + block - rest);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm(int M, int N, int K, ACC alpha, ACC beta,
          const __global IN *restrict A, long a_offset, long a_column, long a_batch,
          const __global IN *restrict B, long b_offset, long b_row, long b_column, long b_batch,
          __global OUT *restrict C, long c_offset, long c_row, long c_column, long c_batch,
          const __global OUT *restrict bias, long bias_offset, long bias_row, long bias_column, int mb, int kb, int sum_row)
{
    REAL x[DEPTH * NR] __attribute__((aligned(LINE_BYTES)));
    REAL sum[SUMS] __attribute__((aligned(LINE_BYTES)));
    const int i0 = get_group_id(0) * mb, rows = min(mb, M - i0);
    A += a_offset + get_group_id(2) * a_batch + i0;
    B += b_offset + get_group_id(2) * b_batch;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row;

    for (int k0 = 0; k0 < K; k0 += kb) {
        const int depth = min(kb, K - k0), first = k0 == 0;
        const __global IN *a = A + k0 * a_column;
        pack(x, NR, 0, B + k0 * b_row, b_row, b_column, depth, N, 0);
        if (rows >= ROWS)
            multiply_tall(sum, sum_row, a, a_column, x, rows, depth, N, first);
        else if (rows >= VW)
            multiply_short_run(sum, sum_row, a, a_column, x, rows, depth, N, first);
        else
            multiply_elements(sum, sum_row, a, a_column, x, rows, depth, N, first);
    }
    if (rows >= VW)
        part_rows(sum, sum_row, rows, N, rows >= ROWS ? ROWS : VW);
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
