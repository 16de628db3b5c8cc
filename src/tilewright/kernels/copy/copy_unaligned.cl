// copy.cl for int8 and int16 rows with an unaligned leading dimension: each stored vector is shifted out of five words.
//
// ELEMENT, MERGE, WORD  explained in words.cl
// GROUP_X, GROUP_Y  work-items of a group along a row, and down the rows: each copies a vector of 16 bytes
//
// A row of the target is stored from the aligned vector on in which it begins. Single elements are copied where a
// vector reaches beyond the row, and where the fifth word may lie beyond the buffer.
//
// Work-groups: dimension 0 the tiles, along rows first; dimension 2 the batch.

#include "words.cl"

#define VEC (4 * MERGE)

__kernel __attribute__((reqd_work_group_size(GROUP_X * GROUP_Y, 1, 1)))
void copy_unaligned(const int rows, const int columns,
                    const __global ELEMENT* restrict input, const long input_offset,
                    const long input_row, const long input_batch,
                    __global ELEMENT* restrict output, const long output_offset,
                    const long output_row, const long output_batch)
{
    const uint item = get_local_id(0), number = get_group_id(0);
    const uint tiles_x = (columns + VEC - 1 + GROUP_X * VEC - 1) / (GROUP_X * VEC);
    const int row = number / tiles_x * GROUP_Y + item / GROUP_X;
    const long source = input_offset + get_group_id(2) * input_batch, end = source + (rows - 1) * input_row + columns;
    const long target = output_offset + get_group_id(2) * output_batch + row * output_row;
    const int first = (number % tiles_x * GROUP_X + item % GROUP_X) * VEC - (int)(target & (VEC - 1));
    if (row >= rows || first >= columns)
        return;

    const long from = source + row * input_row + first;
    if (first >= 0 && first + VEC <= columns && from + VEC + MERGE <= end) {
        const __global uint* words = (const __global uint*)input + WORD_OF(from);
        uint held[5];
#pragma unroll
        for (int i = 0; i < 5; i++)
            held[i] = words[i];
#pragma unroll
        for (int i = 0; i < 4; i++)
            held[i] = shifted(held[i], held[i + 1], SHIFT_OF(from));
        *(__global uint4*)(output + (target + first)) = MAKE4(uint, held[0], held[1], held[2], held[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < VEC; i++)
        if ((uint)(first + i) < (uint)columns)
            output[target + first + i] = input[from + i];
}
