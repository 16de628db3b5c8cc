// A few columns of B at once, A stored by columns: work-items lie across the rows, and k is sliced among groups of them.
//
// COLUMNS  columns of C, all of them: N
// LANES    work-items side by side, each with A_VEC rows of C
// SLICED_K  slices of k, each for LANES work-items; a power of two
// A_VEC    elements of one load down a column; M, strides and alignment are multiples of it, and a_row is 1 if it is above 1
// B_VEC    elements of one load of B along k, and steps of k that a work-item takes at a time; K is a multiple of it
// RUNS     how often so many steps are loaded before the first of them is multiplied
// ANY      1: one program for any layout, up to COLUMNS columns and any number of lanes. Then LANES is `lanes`, and A_VEC and B_VEC are
//          the widest vectors: where `a_wide` or `b_wide` is 0, that operand is read by single elements. The loops ask nothing
//
// Each element of A is read once and used COLUMNS times from a register; an element of B is one address for the LANES
// items that need it. Addresses are added to: multiplied out for each step they cost more than what is loaded there.
// Work-groups: dimension 0 the rows, 1 the parts of K, 2 the batch.

#define C_VEC 1
#include "../elements.cl"
#include "../epilogue.cl"

#if ANY
#define LANES lanes
#define SLICED_K (ITEMS / lanes)
#define COLUMN(j) min(j, N - 1)  // those that are not there are the last one again
#else
#define ITEMS (LANES * SLICED_K)
#define COLUMN(j) (j)
#endif
#define PARTIALS (A_VEC * COLUMNS * PARTS)

// Loads b_width steps of k: from A lines that lie `line` apart, from B what stands at `b` in each column. Widths are known when
// compiling.
INLINE void load_steps(const int a_width, const int b_width, STORED a_loaded[B_VEC][A_VEC * PARTS],
                       STORED b_loaded[COLUMNS][B_VEC * PARTS], const __global STORED* a, const long line,
                       const __global STORED* b, const long b_column, const int N)
{
#pragma unroll
    for (int step = 0; step < b_width; step++)
        load_stored(a_loaded[step], a + step * line, a_width * PARTS);
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        load_stored(b_loaded[j], b + COLUMN(j) * b_column * PARTS, b_width * PARTS);
}

INLINE void multiply_steps(const int a_width, const int b_width, COMPONENT sum[COLUMNS][A_VEC * PARTS],
                           const STORED a_loaded[B_VEC][A_VEC * PARTS], const STORED b_loaded[COLUMNS][B_VEC * PARTS])
{
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int step = 0; step < b_width; step++) {
            COMPONENT a_value[PARTS], b_value[PARTS];
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                b_value[part] = COMPONENT_OF(b_loaded[j] + step * PARTS, part, CONJUGATE_B);
#pragma unroll
            for (int i = 0; i < a_width; i++) {
#pragma unroll
                for (int part = 0; part < PARTS; part++)
                    a_value[part] = COMPONENT_OF(a_loaded[step] + i * PARTS, part, CONJUGATE_A);
                multiply_add(sum[j] + i * PARTS, a_value, b_value);
            }
        }
}

// Adds the products of this work-item's k to `sum`, for rows that begin at `a` and columns that begin at `b`.
INLINE void multiply_columns(const int a_width, const int b_width, const int runs, COMPONENT sum[COLUMNS][A_VEC * PARTS],
                             const __global STORED* a, const long line, const __global STORED* b, const long b_line,
                             const long b_column, const int depth, const int N, const int lanes, const int item)
{
    const int run = SLICED_K * b_width;
    int k = item / LANES * b_width;
    a += k * line;
    b += k * b_line;
    for (; k < depth - (runs - 1) * run; k += runs * run) {
        STORED a_loaded[RUNS][B_VEC][A_VEC * PARTS], b_loaded[RUNS][COLUMNS][B_VEC * PARTS];
#pragma unroll
        for (int r = 0; r < runs; r++)
            load_steps(a_width, b_width, a_loaded[r], b_loaded[r], a + r * run * line, line, b + r * run * b_line, b_column, N);
#pragma unroll
        for (int r = 0; r < runs; r++)
            multiply_steps(a_width, b_width, sum, a_loaded[r], b_loaded[r]);
        a += runs * run * line;
        b += runs * run * b_line;
    }
    for (; k < depth; k += run) {
        STORED a_loaded[B_VEC][A_VEC * PARTS], b_loaded[COLUMNS][B_VEC * PARTS];
        load_steps(a_width, b_width, a_loaded, b_loaded, a, line, b, b_column, N);
        multiply_steps(a_width, b_width, sum, a_loaded, b_loaded);
        a += run * line;
        b += run * b_line;
    }
}

// Adds up the sums of all slices. They end in the first slice's part of `partials`.
INLINE void reduce_items(local COMPONENT partials[PARTIALS][ITEMS], const int lanes, const int item)
{
    for (int stride = SLICED_K / 2; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item / LANES < stride)
#pragma unroll
            for (int i = 0; i < PARTIALS; i++)
                partials[i][item] = ADD(partials[i][item], partials[i][item + stride * LANES]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemv_columns(const int M, const int N, const int K, const int k_chunk, const ACC alpha, const ACC beta,
                  const __global STORED* restrict A, const long a_offset, const long a_row, const long a_column, const long a_batch,
                  const __global STORED* restrict B, const long b_offset, const long b_row, const long b_column, const long b_batch,
                  __global RESULT* restrict C, const long c_offset, const long c_row, const long c_column, const long c_batch,
                  const long c_split, const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
                  const int lanes, const int a_wide, const int b_wide)
{
    __local COMPONENT partials[PARTIALS][ITEMS];

#if ANY
    const int width = a_wide ? A_VEC : 1;
#else
    const int width = A_VEC;
#endif
    const int item = get_local_id(0), first_row = (int)get_group_id(0) * LANES * width;
    const int own_row = min(first_row + item % LANES * width, M - width);
    const long batch = get_group_id(2), k_begin = (long)get_group_id(1) * k_chunk;
    const int depth = (int)min((long)k_chunk, K - k_begin);

    const __global STORED* a = A + (a_offset + batch * a_batch + own_row * a_row + k_begin * a_column) * PARTS;
    const __global STORED* b = B + (b_offset + batch * b_batch + k_begin * b_row) * PARTS;

    COMPONENT sum[COLUMNS][A_VEC * PARTS];
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int i = 0; i < A_VEC * PARTS; i++)
            sum[j][i] = 0;

    const long line = a_column * PARTS, b_line = b_row * PARTS;
#if ANY
    if (a_wide && b_wide)
        multiply_columns(A_VEC, B_VEC, BOTH_RUNS, sum, a, line, b, b_line, b_column, depth, N, lanes, item);
    else if (a_wide)
        multiply_columns(A_VEC, 1, RUNS, sum, a, line, b, b_line, b_column, depth, N, lanes, item);
    else if (b_wide)
        multiply_columns(1, B_VEC, RUNS, sum, a, line, b, b_line, b_column, depth, N, lanes, item);
    else
        multiply_columns(1, 1, RUNS, sum, a, line, b, b_line, b_column, depth, N, lanes, item);
#else
    multiply_columns(A_VEC, B_VEC, RUNS, sum, a, line, b, b_line, b_column, depth, N, lanes, item);
#endif

#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int i = 0; i < A_VEC * PARTS; i++)
            partials[j * A_VEC * PARTS + i][item] = sum[j][i];
    reduce_items(partials, lanes, item);

    C += (c_offset + batch * c_batch + get_group_id(1) * c_split) * PARTS;
    for (int e = item; e < LANES * width * COLUMNS; e += ITEMS) {
        const int lane = e / (width * COLUMNS), in_lane = e % (width * COLUMNS);
        const int row = first_row + lane * width + in_lane / COLUMNS, column = in_lane % COLUMNS;
        COMPONENT value[PARTS];
#pragma unroll
        for (int part = 0; part < PARTS; part++)
            value[part] = partials[(column * A_VEC + in_lane / COLUMNS) * PARTS + part][lane];
        if (row < M && column < N)
            finish(value, alpha, beta, C + (row * c_row + column * c_column) * PARTS,
                   bias + (bias_offset + row * bias_row + column * bias_column) * PARTS, bias_column);
    }
}
