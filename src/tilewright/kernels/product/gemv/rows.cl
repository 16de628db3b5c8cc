// A few columns of B at once: teams of work-items run along the rows of A, as fast as memory delivers it.
//
// COLUMNS  columns of C, all of them: N
// ROWS     rows of C that a team computes at a time
// TEAM     work-items that share these rows; a power of two
// TEAMS    teams of a work-group
// A_VEC    elements of one load along k; K, strides and alignment are multiples of it, and a_column is 1 if it is above 1
// B_VEC    A_VEC if B can be read by vectors along k, else 1
// ANY      1: one program for any layout, up to COLUMNS columns and any team. Then TEAM is `team`, and A_VEC the widest vector:
//          where `a_wide` or `b_wide` is 0, that operand is read by single elements. The loops themselves ask nothing
//
// Each element of A is read once, by one load of up to 16 bytes, and used COLUMNS times from a register. B is read again
// for every ROWS rows: it stays in cache. Addresses are added to: multiplied out for each load they cost more than the load.
// Work-groups: dimension 0 the rows, 1 the parts of K, 2 the batch.

#define C_VEC 1
#include "../elements.cl"
#include "../epilogue.cl"

#if ANY
#define TEAM team
#define TEAMS (ITEMS / team)
#define COLUMN(j) min(j, N - 1)  // those that are not there are the last one again
#else
#define ITEMS (TEAM * TEAMS)
#define COLUMN(j) (j)
#endif
#define PARTIALS (ROWS * COLUMNS * PARTS)

// `a_width` elements of a column of B from `b` on, element after element, by loads of `b_width`: both are known when compiling.
INLINE void load_column(STORED* loaded, const __global STORED* b, const long b_row, const int a_width, const int b_width)
{
    if (b_width > 1)
        load_stored(loaded, b, b_width * PARTS);
    else
#pragma unroll
        for (int i = 0; i < a_width; i++)
            load_stored(loaded + i * PARTS, b + i * b_row * PARTS, PARTS);
}

INLINE void decode_elements(COMPONENT* values, const STORED* loaded, const int width, const int conjugate)
{
#pragma unroll
    for (int i = 0; i < width * PARTS; i++)
        values[i] = COMPONENT_OF(loaded, i, conjugate);
}

// Adds the products of this work-item's k to `sum`, for rows that begin at `a` and columns that begin at `b`.
INLINE void multiply_rows(const int a_width, const int b_width, COMPONENT sum[PARTIALS], const __global STORED* a[ROWS],
                          const long a_column, const __global STORED* b, const long b_row, const long b_column,
                          const int depth, const int N, const int team, const int item)
{
    const long a_step = a_width > 1 ? PARTS : a_column * PARTS, b_step = b_width > 1 ? PARTS : b_row * PARTS;  // to the next k
    const int first = item % TEAM * a_width;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        a[i] += first * a_step;
    b += first * b_step;
#pragma unroll 4
    for (int k = first; k < depth; k += TEAM * a_width) {
        COMPONENT a_values[ROWS][A_VEC * PARTS], b_values[A_VEC * PARTS];
        STORED loaded[A_VEC * PARTS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            load_stored(loaded, a[i], a_width * PARTS);
            decode_elements(a_values[i], loaded, a_width, CONJUGATE_A);
            a[i] += TEAM * a_width * a_step;
        }
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            load_column(loaded, b + COLUMN(j) * b_column * PARTS, b_row, a_width, b_width);
            decode_elements(b_values, loaded, a_width, CONJUGATE_B);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int v = 0; v < a_width; v++)
                    multiply_add(sum + (i * COLUMNS + j) * PARTS, a_values[i] + v * PARTS, b_values + v * PARTS);
        }
        b += TEAM * a_width * b_step;
    }
}

// Adds up what the items of each team hold; the sums end in their first item's part of `partials`.
INLINE void reduce_items(local COMPONENT partials[PARTIALS][ITEMS], const int team, const int item)
{
    for (int stride = TEAM / 2; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item % TEAM < stride)
#pragma unroll
            for (int i = 0; i < PARTIALS; i++)
                partials[i][item] = ADD(partials[i][item], partials[i][item + stride]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemv_rows(const int M, const int N, const int K, const int k_chunk, const ACC alpha, const ACC beta,
               const __global STORED* restrict A, const long a_offset, const long a_row, const long a_column, const long a_batch,
               const __global STORED* restrict B, const long b_offset, const long b_row, const long b_column, const long b_batch,
               __global RESULT* restrict C, const long c_offset, const long c_row, const long c_column, const long c_batch,
               const long c_split, const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
               const int team, const int a_wide, const int b_wide)
{
    __local COMPONENT partials[PARTIALS][ITEMS];

    const int item = get_local_id(0), first_row = ((int)get_group_id(0) * TEAMS + item / TEAM) * ROWS;
    const long batch = get_group_id(2), k_begin = (long)get_group_id(1) * k_chunk;
    const int depth = (int)min((long)k_chunk, K - k_begin);

    const __global STORED* b = B + (b_offset + batch * b_batch + k_begin * b_row) * PARTS;
    const __global STORED* a[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        a[i] = A + (a_offset + batch * a_batch + min(first_row + i, M - 1) * a_row + k_begin * a_column) * PARTS;

    COMPONENT sum[PARTIALS];
#pragma unroll
    for (int i = 0; i < PARTIALS; i++)
        sum[i] = 0;

#if ANY
    if (a_wide && b_wide)
        multiply_rows(A_VEC, A_VEC, sum, a, a_column, b, b_row, b_column, depth, N, team, item);
    else if (a_wide)
        multiply_rows(A_VEC, 1, sum, a, a_column, b, b_row, b_column, depth, N, team, item);
    else
        multiply_rows(1, 1, sum, a, a_column, b, b_row, b_column, depth, N, team, item);
#else
    multiply_rows(A_VEC, B_VEC, sum, a, a_column, b, b_row, b_column, depth, N, team, item);
#endif

#pragma unroll
    for (int i = 0; i < PARTIALS; i++)
        partials[i][item] = sum[i];
    reduce_items(partials, team, item);

    C += (c_offset + batch * c_batch + get_group_id(1) * c_split) * PARTS;
    for (int e = item; e < TEAMS * ROWS * COLUMNS; e += ITEMS) {
        const int own_team = e / (ROWS * COLUMNS), in_team = e % (ROWS * COLUMNS);
        const int row = ((int)get_group_id(0) * TEAMS + own_team) * ROWS + in_team / COLUMNS, column = in_team % COLUMNS;
        COMPONENT value[PARTS];
#pragma unroll
        for (int part = 0; part < PARTS; part++)
            value[part] = partials[in_team * PARTS + part][own_team * TEAM];
        if (row < M && column < N)
            finish(value, alpha, beta, C + (row * c_row + column * c_column) * PARTS,
                   bias + (bias_offset + row * bias_row + column * bias_column) * PARTS, bias_column);
    }
}
