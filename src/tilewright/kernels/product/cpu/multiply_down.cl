// sum[j][:] += A[:, k] * x[k][j] over some steps of k: vectors run down the columns of A.
//
// This file is included once for tall runs of A and once for low ones, with a function for each number of columns.
//
// HEIGHT       what the functions are called after
// RUN_VECTORS  vectors of rows that are computed together
// FROM         a pointer to A, from which LOAD_FROM loads a vector; ASK_AHEAD asks for one that will be needed

static inline __attribute__((always_inline)) void JOIN(multiply_, JOIN(HEIGHT, _columns))(REAL *sum, int sum_row, FROM a,
                                                                                         long a_column, const REAL *x,
                                                                                         int depth, int first,
                                                                                         const int columns)
{
    vec own[RUN_VECTORS * COLUMNS];
#pragma unroll
    for (int c = 0; c < columns; c++)
#pragma unroll
        for (int v = 0; v < RUN_VECTORS; v++)
            own[c * RUN_VECTORS + v] = first ? (vec)(0) : AT(sum + c * sum_row + v * VW);
    for (int k = 0; k < depth; k++) {
        vec factor[RUN_VECTORS];
#pragma unroll
        for (int v = 0; v < RUN_VECTORS; v++) {
            factor[v] = LOAD_FROM(a + v * VW);
            ASK_AHEAD(a + (RUN_VECTORS + v) * VW);
        }
#pragma unroll
        for (int c = 0; c < columns; c++) {
            const vec other = (vec)(x[c]);
#pragma unroll
            for (int v = 0; v < RUN_VECTORS; v++)
                own[c * RUN_VECTORS + v] = multiply_add(factor[v], other, own[c * RUN_VECTORS + v]);
        }
        a += a_column;
        x += NR;
    }
#pragma unroll
    for (int c = 0; c < columns; c++)
#pragma unroll
        for (int v = 0; v < RUN_VECTORS; v++)
            AT(sum + c * sum_row + v * VW) = own[c * RUN_VECTORS + v];
}

#undef COLUMNS_TOGETHER
#define COLUMNS_TOGETHER(columns)                                                                                      \
    static __attribute__((noinline)) void JOIN(JOIN(multiply_, HEIGHT), JOIN(_, columns))(                              \
        REAL *sum, int sum_row, FROM a, long a_column, const REAL *x, int depth, int first)                             \
    {                                                                                                                   \
        JOIN(multiply_, JOIN(HEIGHT, _columns))(sum, sum_row, a, a_column, x, depth, first, columns);                   \
    }
COLUMNS_TOGETHER(1)
COLUMNS_TOGETHER(2)
COLUMNS_TOGETHER(3)
COLUMNS_TOGETHER(4)
COLUMNS_TOGETHER(5)
COLUMNS_TOGETHER(6)
#if COLUMNS != 6
#error COLUMNS is the most that there is a function for
#endif

#undef CASE
#define CASE(columns)                                                                                                  \
    case columns:                                                                                                       \
        JOIN(JOIN(multiply_, HEIGHT), JOIN(_, columns))(sum + i + j * sum_row, sum_row, a + i, a_column, x + j, depth,  \
                                                        first);                                                         \
        break

static void JOIN(multiply_, HEIGHT)(REAL *sum, int sum_row, FROM a, long a_column, const REAL *x, int rows, int depth,
                                    int columns, int first)
{
    const int passes = (columns + COLUMNS - 1) / COLUMNS, together = (columns + passes - 1) / passes;
    for (int i = 0; i < rows; i += RUN_VECTORS * VW) {
        for (int j = 0; j < columns; j += together) {
            switch (min(together, columns - j)) {
                CASE(1);
                CASE(2);
                CASE(3);
                CASE(4);
                CASE(5);
                CASE(6);
            }
        }
    }
}
