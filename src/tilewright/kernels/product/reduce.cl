// The second launch of split-K: adds up the partial sums, each over a part of K, and finishes C. It also scales a product, which
// then is the only partial sum.
//
// GROUP_ELEMENTS     elements of C that a work-group finishes, side by side
// ITEMS_PER_ELEMENT  work-items that add up the partial sums of an element; a power of two
// SCALED             1 if rows and columns of the product are scaled, by vectors or by one number each
//
// `partial` holds, for each of `splits` parts of K and each matrix of the batch, M x N sums in rows without gaps.
// Dimension 0 runs over the elements, rows first; dimension 2 over the batch.

#define C_VEC 1
#include "elements.cl"
#include "epilogue.cl"

#define ITEMS (GROUP_ELEMENTS * ITEMS_PER_ELEMENT)

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void reduce(const int M, const int N, const int splits, const ACC alpha, const ACC beta,
            const __global COMPONENT* restrict partial,
            __global RESULT* restrict C, const long c_offset, const long c_row, const long c_column, const long c_batch,
            const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
            const __global float* scale_a, const long scale_a_row, const __global float* scale_b, const long scale_b_column)
{
    __local COMPONENT sums[PARTS][ITEMS];

    const int item = get_local_id(0), lane = item / GROUP_ELEMENTS;
    const size_t element = get_group_id(0) * GROUP_ELEMENTS + item % GROUP_ELEMENTS;
    const size_t row = element / N, column = element % N;
    const size_t area = (size_t)M * N, batch = get_group_id(2), distance = get_num_groups(2) * area;

    COMPONENT sum[PARTS];
#pragma unroll
    for (int part = 0; part < PARTS; part++)
        sum[part] = 0;
    if (row < M) {
        partial += (batch * area + element) * PARTS;
#pragma unroll 4
        for (int number = lane; number < splits; number += ITEMS_PER_ELEMENT)
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                sum[part] = ADD(sum[part], partial[number * distance * PARTS + part]);
    }
#pragma unroll
    for (int part = 0; part < PARTS; part++)
        sums[part][item] = sum[part];
    for (int stride = ITEMS_PER_ELEMENT / 2; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < stride)
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                sums[part][item] = ADD(sums[part][item], sums[part][item + stride * GROUP_ELEMENTS]);
    }
    if (lane > 0 || row >= M)
        return;
#pragma unroll
    for (int part = 0; part < PARTS; part++)
        sum[part] = sums[part][item];
#if SCALED
    sum[0] *= scale_a[row * scale_a_row] * scale_b[column * scale_b_column];
#endif
    finish(sum, alpha, beta, C + (c_offset + batch * c_batch + row * c_row + column * c_column) * PARTS,
           bias + (bias_offset + row * bias_row + column * bias_column) * PARTS, bias_column);
}
