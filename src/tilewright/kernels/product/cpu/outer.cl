// A column times a row: nothing is summed, so that all that counts is to write C at memory's speed.
//
// C = alpha * A * B + beta * C, where K is 1 and C's rows are contiguous. 06_production.cl would start a micro-kernel, and look
// for what to pack and to prefetch, for each 6 or 12 rows of two vectors: one multiply-add each. Here a work-item packs its part
// of B's row once, and goes along the rows of C.
//
// WIDTH      columns of C that a work-item does at most: their part of B stays in its level-1 cache
//
// Group (x, y, z) does columns from x * WIDTH and `mb` rows from y * mb of matrix z. What is less than a vector at the end of a
// row is written with the elements before it once more, by the same values; element by element where C is read, too.
#define MR 1
#define NR WIDTH

#include "vectors.cl"
#include "pack.cl"

// Around the caches, since a result as large as this is asked for is not found there; only where `vec`s lie at their boundaries.
#define STORE_AROUND(v, p) __builtin_nontemporal_store(v, (__global vec *)(p))

// One function for each way to store: a compiler that sees both in two branches makes one of them.
#define ROWS_OF_C(name, STORE)                                                                                          \
    static __attribute__((noinline)) void name(const __global IN *A, long a_row, const REAL *x, __global OUT *C,        \
                                               long c_row, int rows, int columns, ACC alpha)                            \
    {                                                                                                                   \
        const int whole = columns / VW * VW;                                                                            \
        for (int i = 0; i < rows; i++) {                                                                                \
            const vec factor = GET_IN(A + i * a_row);                                                                   \
            __global OUT *c = C + i * c_row;                                                                            \
            for (int j = 0; j < whole; j += VW)                                                                         \
                STORE(alpha * multiply_add(factor, AT(x + j), 0), c + j);                                               \
            if (whole < columns)                                                                                        \
                STORE_OUT(alpha * multiply_add(factor, LOOSE_AT(x + columns - VW), 0), c + columns - VW);               \
        }                                                                                                               \
    }

ROWS_OF_C(write_rows, STORE_OUT)
#if OUT_IS_ACC
ROWS_OF_C(write_rows_around, STORE_AROUND)
#endif

static __attribute__((noinline)) void add_rows(const __global IN *A, long a_row, const REAL *x, __global OUT *C, long c_row,
                                               int rows, int columns, ACC alpha, ACC beta)
{
    const int whole = columns / VW * VW;
    for (int i = 0; i < rows; i++) {
        const REAL factor = GET_IN(A + i * a_row);
        __global OUT *c = C + i * c_row;
        for (int j = 0; j < whole; j += VW) {
            vec value = alpha * multiply_add((vec)(factor), AT(x + j), 0);
            if (beta != 0)
                value += beta * LOAD_OUT(c + j);
            STORE_OUT(value, c + j);
        }
        for (int j = whole; j < columns; j++) {
            ACC value = alpha * multiply_add((vec)(factor), (vec)(x[j]), 0).s0;
            if (beta != 0)
                value += beta * GET_OUT(c + j);
            PUT_OUT(value, c + j);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm(int M, int N, ACC alpha, ACC beta,
          const __global IN *restrict A, long a_offset, long a_row, long a_batch,
          const __global IN *restrict B, long b_offset, long b_column, long b_batch,
          __global OUT *restrict C, long c_offset, long c_row, long c_batch, int mb, int stream)
{
    REAL x[WIDTH] __attribute__((aligned(LINE_BYTES)));
    const int i0 = get_group_id(1) * mb, rows = min(mb, M - i0);
    const int j0 = get_group_id(0) * WIDTH, columns = min(WIDTH, N - j0);
    A += a_offset + get_group_id(2) * a_batch + i0 * a_row;
    B += b_offset + get_group_id(2) * b_batch + j0 * b_column;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row + j0;
    pack(x, WIDTH, 0, B, 0, b_column, 1, columns, 0);
    if (beta != 0 || columns < VW) {
        add_rows(A, a_row, x, C, c_row, rows, columns, alpha, beta);
        return;
    }
#if OUT_IS_ACC
    if (stream && (((ulong)C | c_row * sizeof(OUT)) & (VW * sizeof(REAL) - 1)) == 0) {
        write_rows_around(A, a_row, x, C, c_row, rows, columns, alpha);
        return;
    }
#endif
    write_rows(A, a_row, x, C, c_row, rows, columns, alpha);
}
