// A few columns of B at once: teams of work-items run along the rows of A, as fast as memory delivers it.
//
// COLUMNS  columns of C, all of them: N
// ROWS     rows of C that a team computes at a time
// TEAM     work-items that share these rows; a power of two
// TEAMS    teams of a work-group
// A_VEC    elements of one load along k; K, strides and alignment are multiples of it, and a_column is 1 if it is above 1
// B_VEC    A_VEC if B can be read by vectors along k, else 1
//
// Each element of A is read once, by one load of up to 16 bytes, and used COLUMNS times from a register. B is read again
// for every ROWS rows: it stays in cache. Addresses are added to: multiplied out for each load they cost more than the load.
// Work-groups: dimension 0 the rows, 1 the parts of K, 2 the batch.

#define C_VEC 1
#include "../elements.cl"
#include "../epilogue.cl"

#define ITEMS (TEAM * TEAMS)
#define PARTIALS (ROWS * COLUMNS * PARTS)

// `A_VEC` elements of column `column` of B from `b` on, element after element
INLINE void load_column(STORED* loaded, const __global STORED* b, const long b_row)
{
#if B_VEC > 1
    load_stored(loaded, b, B_VEC * PARTS);
#else
#pragma unroll
    for (int i = 0; i < A_VEC; i++)
        load_stored(loaded + i * PARTS, b + i * b_row * PARTS, PARTS);
#endif
}

INLINE void decode_elements(COMPONENT* values, const STORED* loaded, const int conjugate)
{
#pragma unroll
    for (int i = 0; i < A_VEC * PARTS; i++)
        values[i] = COMPONENT_OF(loaded, i, conjugate);
}

// Adds up what the items of each team hold; the sums end in their first item's part of `partials`.
INLINE void reduce_items(local COMPONENT partials[PARTIALS][ITEMS], const int item)
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
               const long c_split, const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column)
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

    const long a_step = A_VEC > 1 ? PARTS : a_column * PARTS, b_step = B_VEC > 1 ? PARTS : b_row * PARTS;  // to the next k
    const int first = item % TEAM * A_VEC;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        a[i] += first * a_step;
    b += first * b_step;
#pragma unroll 4
    for (int k = first; k < depth; k += TEAM * A_VEC) {
        COMPONENT a_values[ROWS][A_VEC * PARTS], b_values[A_VEC * PARTS];
        STORED loaded[A_VEC * PARTS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            load_stored(loaded, a[i], A_VEC * PARTS);
            decode_elements(a_values[i], loaded, CONJUGATE_A);
            a[i] += TEAM * A_VEC * a_step;
        }
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            load_column(loaded, b + j * b_column * PARTS, b_row);
            decode_elements(b_values, loaded, CONJUGATE_B);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int v = 0; v < A_VEC; v++)
                    multiply_add(sum + (i * COLUMNS + j) * PARTS, a_values[i] + v * PARTS, b_values + v * PARTS);
        }
        b += TEAM * A_VEC * b_step;
    }

#pragma unroll
    for (int i = 0; i < PARTIALS; i++)
        partials[i][item] = sum[i];
    reduce_items(partials, item);

    C += (c_offset + batch * c_batch + get_group_id(1) * c_split) * PARTS;
    for (int e = item; e < TEAMS * ROWS * COLUMNS; e += ITEMS) {
        const int team = e / (ROWS * COLUMNS), in_team = e % (ROWS * COLUMNS);
        const int row = ((int)get_group_id(0) * TEAMS + team) * ROWS + in_team / COLUMNS, column = in_team % COLUMNS;
        COMPONENT value[PARTS];
#pragma unroll
        for (int part = 0; part < PARTS; part++)
            value[part] = partials[in_team * PARTS + part][team * TEAM];
        if (row < M)
            finish(value, alpha, beta, C + (row * c_row + column * c_column) * PARTS,
                   bias + (bias_offset + row * bias_row + column * bias_column) * PARTS, bias_column);
    }
}
