// Converts 8-bit floats to fp16, which holds every one of them exactly. Any kernel that multiplies fp16 can go on from there.
//
// GROUP_X, GROUP_Y  work-items of a group side by side and one above the other
// VEC               elements of a row that a work-item reads and writes at once; above 1, both column strides are 1
//
// Work-groups: dimension 0 the tiles, rows of them first; 2 the batch.

#include "../elements.cl"

__kernel __attribute__((reqd_work_group_size(GROUP_X * GROUP_Y, 1, 1)))
void convert(const int rows, const int columns,
           const __global STORED* restrict input, const long input_offset, const long input_row, const long input_column,
           const long input_batch,
           __global RESULT* restrict output, const long output_offset, const long output_row, const long output_column,
           const long output_batch)
{
    const int item = get_local_id(0), tile = get_group_id(0), tiles_x = (columns + GROUP_X * VEC - 1) / (GROUP_X * VEC);
    const int column = (tile % tiles_x * GROUP_X + item % GROUP_X) * VEC, row = tile / tiles_x * GROUP_Y + item / GROUP_X;
    const long batch = get_group_id(2);
    if (row >= rows || column >= columns)
        return;

    STORED loaded[VEC];
    RESULT converted[VEC];
    load_stored(loaded, input + input_offset + batch * input_batch + row * input_row + column * input_column, VEC);
#pragma unroll
    for (int i = 0; i < VEC; i++)
        converted[i] = ENCODE_RESULT(DECODE(loaded[i]));
    store_result(output + output_offset + batch * output_batch + row * output_row + column * output_column, converted, VEC);
}
