// How sums leave registers for C: by vectors, or through local memory where C takes single floats only.

// Four sums side by side, in exchanged pairs.
INLINE FRAGMENT exchanged(const COMPONENT* sum)
{
    return MAKE4(COMPONENT, sum[1], sum[0], sum[3], sum[2]);
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

#define ROW_WARPS (BN / WARP_BN)  // that hold parts of the same rows of a tile
#define CHUNKS (BN / 32 + 1)      // lines of 128 bytes in which such a row lies, at most

// A warp stores a row of a tile that lies in local memory, line by line of 128 bytes, wherever the row begins in C.
INLINE void store_line(const local COMPONENT* line, const Target target, const int row, const int first, const long batch)
{
    const __global RESULT* begin = target.c + batch * target.c_batch + row * target.c_row + first;
    const int place = (int)(get_local_id(0) % 32) - (int)((ulong)begin / sizeof(RESULT) % 32);
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        if ((chunk > 0 || place >= 0) && (chunk < CHUNKS - 1 || place < 0)) {
            COMPONENT value = line[chunk * 32 + (place ^ 1)];
            store(&value, target, row, first + chunk * 32 + place, batch);
        }
}

// Stores TOGETHER rows of the results of a warp's work-items, from row `i` on; `first` is this one's corner. Floats that cannot
// be stored by vectors go through local memory, and leave by whole rows of the tile: by a loop, as code that is run once a
// tile takes longer to fetch than to run.
INLINE void store_rows(COMPONENT sum[TOGETHER][TN], const int i, const Target target, const int2 first, const long batch,
                       local COMPONENT* lines)
{
#if C_VEC * PARTS > 1
#pragma unroll
    for (int j = 0; j < TN; j += C_VEC * PARTS)
        store(sum[0] + j, target, first.x + row_of(i), first.y + column_of(j), batch);
#else
    const int lane = get_local_id(0) % 32, warp = get_local_id(0) / 32, member = warp % ROW_WARPS;
    const int2 corner = first - MAKE2(int, lane / 8, member * 8 + lane % 8) * 4;
    local COMPONENT* own = lines + lane / 8 * BN + member * 32 + lane % 8 * 4;
#pragma unroll
    for (int j = 0; j < TOGETHER * TN; j += 4)
        *(local FRAGMENT*)(own + j / TN * 4 * BN + j % TN / 4 * STEP_N) = exchanged(sum[0] + j);
    bar_sync(2 + warp / ROW_WARPS, 32 * ROW_WARPS);
#pragma unroll 1
    for (int row = member; row < 4 * TOGETHER; row += ROW_WARPS)
        store_line(lines + row * BN, target, corner.x + row % 4 * 4 + row / 4 + row_of(i), corner.y, batch);
    bar_sync(2 + warp / ROW_WARPS, 32 * ROW_WARPS);
#endif
}
