// A strided copy by vectors: target (b, i, j) = source (b, i, j). Elements of a row are neighbours on both sides.
//
// ELEMENT   an unsigned type of the element's size
// VEC       elements of one load and store; above 1, both column strides are 1
// PIECE     the type of a vector of VEC elements
// GROUP_X, GROUP_Y  work-items of a group along a row, and down the rows
// RUNS      vectors that a work-item copies: all are loaded before the first is stored
// RUN_X, RUN_Y  columns and rows from one of its vectors to the next
//
// Work-groups: dimension 0 the tiles, along rows first; dimension 2 the batch.

__kernel __attribute__((reqd_work_group_size(GROUP_X * GROUP_Y, 1, 1)))
void copy(const int rows, const int columns,
          const __global ELEMENT* restrict input, const long input_offset,
          const long input_row, const long input_column, const long input_batch,
          __global ELEMENT* restrict output, const long output_offset, const long output_row, const long output_column,
          const long output_batch)
{
    const uint item = get_local_id(0), tile_columns = RUN_X ? RUNS * RUN_X : GROUP_X * VEC;
    const uint tiles_x = (columns + tile_columns - 1) / tile_columns, tile = get_group_id(0);
    const int column = tile % tiles_x * tile_columns + item % GROUP_X * VEC;
    const int row = tile / tiles_x * (RUN_Y ? RUNS * RUN_Y : 1) + item / GROUP_X;
    const long batch = get_group_id(2);
    const __global ELEMENT* from = input + input_offset + batch * input_batch + row * input_row + column * input_column;
    __global ELEMENT* to = output + output_offset + batch * output_batch + row * output_row + column * output_column;

    PIECE held[RUNS];
#pragma unroll
    for (int run = 0; run < RUNS; run++)
        if (row + run * RUN_Y < rows && column + run * RUN_X < columns)
            held[run] = *(const __global PIECE*)(from + run * (RUN_Y * input_row + RUN_X * input_column));
#pragma unroll
    for (int run = 0; run < RUNS; run++)
        if (row + run * RUN_Y < rows && column + run * RUN_X < columns)
            *(__global PIECE*)(to + run * (RUN_Y * output_row + RUN_X * output_column)) = held[run];
}
