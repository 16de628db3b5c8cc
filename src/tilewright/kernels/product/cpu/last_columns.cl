// The last few columns of B, which would leave a vector of columns mostly empty: vectors run along k instead.
//
// This file is included once for each number of COLUMNS that 06_production.cl needs. The columns are packed one after the other,
// `b_column` elements apart, and there may be fewer: finish() stores no more of the tile. ROWS rows of A times them are summed in
// registers, a vector of partial sums for each element of C, which is added up at the end.
static __attribute__((noinline)) void JOIN(last_columns_, COLUMNS)(int rows, int depth, const REAL *a, long a_row, const REAL *b,
                                                                    long b_column, REAL *tile)
{
    const int whole = depth / VW * VW;
    for (int i = 0; i < rows; i += ROWS) {
        vec sum[ROWS][COLUMNS];
#pragma unroll
        for (int t = 0; t < ROWS; t++)
#pragma unroll
            for (int q = 0; q < COLUMNS; q++)
                sum[t][q] = 0;
        for (int k = 0; k < whole; k += VW) {
            vec column[COLUMNS];
#pragma unroll
            for (int q = 0; q < COLUMNS; q++)
                column[q] = AT(b + q * b_column + k);
#pragma unroll
            for (int t = 0; t < ROWS; t++) {
                const vec row = LOOSE_AT(a + min(i + t, rows - 1) * a_row + k);
#pragma unroll
                for (int q = 0; q < COLUMNS; q++)
                    sum[t][q] = multiply_add(row, column[q], sum[t][q]);
            }
        }
#pragma unroll
        for (int t = 0; t < ROWS; t++) {
#pragma unroll
            for (int q = 0; q < COLUMNS; q++) {
                vec partial = sum[t][q];
#pragma unroll
                for (int round = 0; round < LOG2_VW; round++)
                    partial = evens(partial, partial) + odds(partial, partial);
                tile[min(i + t, rows - 1) * NR + q] = partial.s0;
            }
        }
    }
    // Steps of k that do not fill a vector, in chains of their own: beyond them is other memory.
    for (int i = 0; i < rows && whole < depth; i++) {
        REAL rest[COLUMNS];
#pragma unroll
        for (int q = 0; q < COLUMNS; q++)
            rest[q] = 0;
        for (int k = whole; k < depth; k++) {
#pragma unroll
            for (int q = 0; q < COLUMNS; q++)
                rest[q] += a[i * a_row + k] * b[q * b_column + k];
        }
#pragma unroll
        for (int q = 0; q < COLUMNS; q++)
            tile[i * NR + q] += rest[q];
    }
}
#undef COLUMNS
#undef ROWS
