// The second step of split-K: adds up the pieces that each computed a part of K, and finishes C.
//
// `partial` holds, for each of `pieces` parts of K and each matrix of the batch, M x N sums in rows without gaps.
// Dimension 0 runs over the elements, rows first; dimension 2 over the batch.

#define C_VEC 1
#include "elements.cl"
#include "epilogue.cl"

__kernel void reduce(const int M, const int N, const int pieces, const ACC alpha, const ACC beta,
                     const __global COMPONENT* restrict partial,
                     __global RESULT* restrict C, const long c_offset, const long c_row, const long c_column, const long c_batch,
                     const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column)
{
    const size_t element = get_global_id(0), batch = get_global_id(2);
    const size_t row = element / N, column = element % N;
    if (row >= M)
        return;
    COMPONENT sum[PARTS];
#pragma unroll
    for (int part = 0; part < PARTS; part++)
        sum[part] = 0;
    const size_t area = (size_t)M * N;
    partial += (batch * area + element) * PARTS;
#pragma unroll 4
    for (int piece = 0; piece < pieces; piece++)
#pragma unroll
        for (int part = 0; part < PARTS; part++)
            sum[part] += partial[piece * get_global_size(2) * area * PARTS + part];
    finish(sum, alpha, beta, C + (c_offset + batch * c_batch + row * c_row + column * c_column) * PARTS,
           bias + (bias_offset + row * bias_row + column * bias_column) * PARTS, bias_column);
}
