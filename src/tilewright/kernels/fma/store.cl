// How sums leave registers for C: by vectors, or through local memory where C takes single elements only.

// Four sums side by side, in exchanged pairs.
INLINE FRAGMENT exchanged(const COMPONENT* sum)
{
    return (FRAGMENT)(sum[1], sum[0], sum[3], sum[2]);
}

// The row and the column of C of a work-item's sum, beside its corner.
INLINE int row_of(const int i)
{
    return i / 4 * STEP_M + i % 4;
}

INLINE int column_of(const int j)
{
    return j / 4 * STEP_N + j % 4;
}

// What becomes of sums, and where.
typedef struct {
    int M, N;
    ACC alpha, beta;
    __global RESULT* c;
    long c_row, c_column, c_batch;
    const __global RESULT* bias;
    long bias_row, bias_column;
} Target;

// Finishes C_VEC sums that lie side by side in a row of C, unless they are outside.
INLINE void store(COMPONENT* sum, const Target target, const int row, const int column, const long batch)
{
    if (row < target.M && column < target.N)
        finish(sum, target.alpha, target.beta,
               target.c + batch * target.c_batch + row * target.c_row + column * target.c_column,
               target.bias + row * target.bias_row + column * target.bias_column, target.bias_column);
}

// Stores row `i` of the sums of a warp's work-items; `first` is this one's corner. A result that cannot be stored by vectors
// goes through local memory, so that neighbours in a row of C are stored by neighbours in the warp.
INLINE void store_row(COMPONENT* sum, const int i, const Target target, const int2 first, const long batch,
                      __local COMPONENT* line)
{
#if C_VEC > 1
#pragma unroll
    for (int j = 0; j < TN; j += C_VEC)
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
