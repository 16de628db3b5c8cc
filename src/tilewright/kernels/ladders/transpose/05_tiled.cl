// The tile is transposed in local memory, so that reads and writes are both coalesced.
//
// TILE  side of the square that a work-group transposes
// PAD   elements that no one uses at the end of each row of the tile
//
// Local memory has 32 banks, each a word wide: word w lies in bank w % 32, and of each bank a request gets one word at
// a time. The tile is written by rows and read by columns. In tile[16][16] the 16 words of a column lie 16 apart, in
// two banks, and wait for each other. One more word per row moves each row one bank on: in tile[16][17] they lie in 16
// banks. That was free of conflicts while 16 work-items made a request. Today 32 do, two columns, and one of them
// wraps around onto a bank of the other: every request takes two passes. `tile_of_a_warp` mends that.

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

    // The group's tile of the output: the groups change places, the work-items within them do not.
    const size_t row = get_group_id(0) * TILE + item_y;
    const size_t column = get_group_id(1) * TILE + item_x;
    if (row < width && column < ROWS)
        output[row * ROWS + column] = tile[item_x][item_y];
}
