// The copy through a padded tile, which a copy does not need: its pitch is that of the tiled transpose.
//
// TILE  side of the square that a work-group copies
// PAD   elements that no one uses at the end of each row of the tile
//
// On half-warps both pitches were free of conflicts. A warp of 32 covers two rows of 16: with a pitch of 17 they share a
// bank, with one of 16 they do not.

__kernel void copy(const int ROWS, const int COLUMNS, const int OFFSET,
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
    if (x < width && y < ROWS)
        output[y * width + x] = tile[item_y][item_x];
}
