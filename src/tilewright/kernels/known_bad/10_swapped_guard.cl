// Wrong: the guard of the second half compares x with the height and y with the width, as for a transpose.
//
// `transpose/shared_copy` as it was published, but for the pad. It is right for square matrices. In others, work-items
// beyond an edge store what they never loaded, beyond the output, and some elements are not copied.
//
// TILE  side of the square that a work-group copies

__kernel void copy(const int ROWS, const int COLUMNS, const int OFFSET,
                   const __global REAL* input, __global REAL* output)
{
    const size_t x = get_global_id(0);
    const size_t y = get_global_id(1);
    const int item_x = get_local_id(0);
    const int item_y = get_local_id(1);
    const size_t width = COLUMNS - OFFSET;

    __local REAL tile[TILE][TILE];
    if (x < width && y < ROWS)
        tile[item_y][item_x] = input[y * COLUMNS + x + OFFSET];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < ROWS && y < width)
        output[y * width + x] = tile[item_y][item_x];
}
