// How sums leave registers for C: by vectors, or through local memory where C takes single floats only.

// Four sums side by side, in exchanged pairs.
INLINE FRAGMENT exchanged(const COMPONENT* sum)
{
    return (FRAGMENT)(sum[1], sum[0], sum[3], sum[2]);
}

#define SIDE (4 / PARTS)  // rows and columns of C that a work-item has side by side

// The row and the column of C of a work-item's results, beside its corner: of row `i` of them, and of number `j` in it.
INLINE int row_of(const int i)
{
    return i / SIDE * (STEP_M / PARTS) + i % SIDE;
}

INLINE int column_of(const int j)
{
    return (j / 4 * STEP_N + j % 4) / PARTS;
}

#if PARTS == 2
// Sums of all products of parts, of rows (real, imaginary) by columns (real, imaginary), become complex numbers: row 0 of two.
INLINE void make_complex(COMPONENT sum[TM][TN])
{
    const COMPONENT a_sign = CONJUGATE_A ? -1 : 1, b_sign = CONJUGATE_B ? -1 : 1;
#pragma unroll
    for (int i = 0; i < RESULT_ROWS; i++)
#pragma unroll
        for (int j = 0; j < TN; j += 2) {
            const COMPONENT real = sum[2 * i][j] - a_sign * b_sign * sum[2 * i + 1][j + 1];
            sum[i][j + 1] = b_sign * sum[2 * i][j + 1] + a_sign * sum[2 * i + 1][j];
            sum[i][j] = real;
        }
}
#endif

// What becomes of sums, and where.
typedef struct {
    int M, N;
    ACC alpha, beta;
    __global RESULT* c;
    long c_row, c_column, c_batch;
    const __global RESULT* bias;
    long bias_row, bias_column;
} Target;

// Finishes C_VEC elements, of PARTS numbers each, that lie side by side in a row of C, unless they are outside.
INLINE void store(COMPONENT* sum, const Target target, const int row, const int column, const long batch)
{
    if (row < target.M && column < target.N)
        finish(sum, target.alpha, target.beta,
               target.c + (batch * target.c_batch + row * target.c_row + column * target.c_column) * PARTS,
               target.bias + (row * target.bias_row + column * target.bias_column) * PARTS, target.bias_column);
}

// Stores row `i` of the results of a warp's work-items; `first` is this one's corner. A float that cannot be stored by vectors
// goes through local memory, so that neighbours in a row of C are stored by neighbours in the warp.
INLINE void store_row(COMPONENT* sum, const int i, const Target target, const int2 first, const long batch,
                      __local COMPONENT* line)
{
#if C_VEC * PARTS > 1
#pragma unroll
    for (int j = 0; j < TN; j += C_VEC * PARTS)
        store(sum + j, target, first.x + row_of(i), first.y + column_of(j), batch);
#else
    const int lane = get_local_id(0) % 32;
    const int2 warp_first = first - (int2)(lane / 8, lane % 8) * 4;
#pragma unroll
    for (int j = 0; j < TN; j += 4)
        *(__local FRAGMENT*)(line + (lane / 8 * TN / 4 + j / 4) * 32 + lane % 8 * 4) = exchanged(sum + j);
    bar_warp_sync();
#pragma unroll
    for (int piece = 0; piece < TN; piece++) {
        COMPONENT held = line[piece * 32 + lane];
        const int row = warp_first.x + piece / (TN / 4) * 4 + row_of(i);
        store(&held, target, row, warp_first.y + piece % (TN / 4) * STEP_N + (lane ^ 1), batch);
    }
    bar_warp_sync();
#endif
}
