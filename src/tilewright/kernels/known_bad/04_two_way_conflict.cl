// Slow: tile[16][17], the famous remedy, still takes 2 passes: 32 work-items read two columns, which share a bank.
//
// The tiled transpose as it was published, for 16 work-items per request.
//
// TILE  side of the square that a work-group transposes
// PAD   1

__kernel void transpose(const int ROWS, const int COLUMNS, const int OFFSET,
                        const __global REAL* input, __global REAL* output)
{
    const size_t x = get_global_id(0);
    const size_t y = get_global_id(1);
    const int item_x = get_local_id(0);
    const int item_y = get_local_id(1);
    const size_t width = COLUMNS - OFFSET;

    __local REAL tile[TILE][TILE + PAD];
    if (x < width && y < ROWS)
        tile[item_y][item_x] = input[y * COLUMNS + x + OFFSET];
    barrier(CLK_LOCAL_MEM_FENCE);

    const size_t row = get_group_id(0) * TILE + item_y;
    const size_t column = get_group_id(1) * TILE + item_x;
    if (row < width && column < ROWS)
        output[row * ROWS + column] = tile[item_x][item_y];
}
