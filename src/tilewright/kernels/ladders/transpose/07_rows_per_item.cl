// Each work-item transposes several elements: more loads under way, fewer work-items.
//
// TILE           side of the square that a work-group transposes
// PAD            elements that no one uses at the end of each row of the tile
// ROWS_PER_ITEM  elements that a work-item moves, TILE / ROWS_PER_ITEM rows apart
//
// A load takes hundreds of cycles, and a work-item that has one element to move spends them waiting at the barrier.
// These loads do not depend on each other, so all are sent before the first one returns, and the index arithmetic,
// the barrier and the launch of the work-item are paid once for all.

#define STEP (TILE / ROWS_PER_ITEM)

__kernel void transpose(const int ROWS, const int COLUMNS, const int OFFSET,
                        const __global REAL* input, __global REAL* output)
{
    const int item_x = get_local_id(0);
    const int item_y = get_local_id(1);
    const size_t x = get_group_id(0) * TILE + item_x;
    const size_t y = get_group_id(1) * TILE + item_y;
    const size_t width = COLUMNS - OFFSET;

    __local REAL tile[TILE][TILE + PAD];
#pragma unroll
    for (int i = 0; i < TILE; i += STEP)
        if (x < width && y + i < ROWS)
            tile[item_y + i][item_x] = input[(y + i) * COLUMNS + x + OFFSET];
    barrier(CLK_LOCAL_MEM_FENCE);

    const size_t row = get_group_id(0) * TILE + item_y;
    const size_t column = get_group_id(1) * TILE + item_x;
#pragma unroll
    for (int i = 0; i < TILE; i += STEP)
        if (row + i < width && column < ROWS)
            output[(row + i) * ROWS + column] = tile[item_x][item_y + i];
}
