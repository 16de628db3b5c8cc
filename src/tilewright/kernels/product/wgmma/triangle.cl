// The tile scheduler of main_loop.cl for a symmetric product, in the place of scheduler.cl: its tiles are those of a triangle.

#define origin_of origin_in_rectangle
#define work_at work_in_rectangle
#define first_work first_in_rectangle
#define next_work next_in_rectangle
#include "../wgmma/scheduler.cl"
#undef origin_of
#undef work_at
#undef first_work
#undef next_work

INLINE Origin origin_of(const Grid grid, const int tile)
{
    const int area = tiles_of_triangle(grid.tiles_m, grid.tiles_n), matrix = tile / area;
    const int2 at = tile_of_triangle(tile - matrix * area, grid.tiles_m, grid.tiles_n);
    const Origin place = {at.x * BM, at.y * BN, matrix};
    return place;
}

// Full waves come first, then the first part of each tile of the tail wave, then the second part of each, and so on.
INLINE WorkTile work_at(const Grid grid, const int number)
{
    const WorkTile whole = {number, 0, 0, grid.steps}, none = {0, 0, 0, 0};
    if (number < grid.whole)
        return whole;
#if TAIL_SPLIT > 1
    const int batches = (grid.whole + grid.left) / (grid.tiles_m * grid.tiles_n);  // `left` counts the tiles of a rectangle
    const int left = tiles_of_triangle(grid.tiles_m, grid.tiles_n) * batches - grid.whole, place = number - grid.whole;
    if (place < left * TAIL_SPLIT)
        return split_of(grid, grid.whole + place % left, place / left);
#endif
    return none;
}

INLINE WorkTile first_work(const Grid grid)
{
    return work_at(grid, grid.group);
}

INLINE WorkTile next_work(const Grid grid, const WorkTile work)
{
    return work_at(grid, work.tile + grid.groups);
}
