// Transposes a matrix into one of another size: zeros where that is larger than the transpose.
//
// TILE           side of the square that a work-group transposes
// PAD            elements that no one uses at the end of each row of the tile in local memory
// ROWS_PER_ITEM  elements that a work-item copies, TILE / ROWS_PER_ITEM rows apart

#define STEP (TILE / ROWS_PER_ITEM)

__kernel void pad_transpose(const int ROWS, const int COLUMNS, const int NEW_ROWS, const int NEW_COLUMNS,
                            const __global REAL* input, __global REAL* output)
{
    const int item_x = get_local_id(0);
    const int item_y = get_local_id(1);
    // The groups are laid over the output, dimension 0 along its rows: over the input they change places.
    const size_t x = get_group_id(1) * TILE + item_x;
    const size_t y = get_group_id(0) * TILE + item_y;

    __local REAL tile[TILE][TILE + PAD];
#pragma unroll
    for (int i = 0; i < TILE; i += STEP)
        tile[item_y + i][item_x] = x < COLUMNS && y + i < ROWS ? input[(y + i) * COLUMNS + x] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    const size_t row = get_group_id(1) * TILE + item_y;
    const size_t column = get_group_id(0) * TILE + item_x;
#pragma unroll
    for (int i = 0; i < TILE; i += STEP)
        if (row + i < NEW_ROWS && column < NEW_COLUMNS)
            output[(row + i) * NEW_COLUMNS + column] = tile[item_x][item_y + i];
}
