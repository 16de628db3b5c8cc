// A tile of 32 x 33, as wide as a warp: its columns lie in 32 banks, so no bank conflict is left.
//
// TILE  side of the square that a work-group transposes
// PAD   elements that no one uses at the end of each row of the tile
//
// Not a statement differs from `tiled`, only the geometry: a request of 32 work-items now covers one row of the tile
// when it writes, and one column when it reads: words 33 apart, and 33 i % 32 = i % 32 takes every bank once. Each
// request to global memory covers one whole line of 128 bytes as well, instead of two halves.
// (A double takes two words, and half of the work-items are served at a time; the same pad will do.)
//
// It may well be slower than `tiled`: the group has 1024 work-items now, and all of them wait at the barrier for the
// slowest. `rows_per_item` mends that.

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
