// The tile scheduler of main_loop.cl: persistent work-groups, and tail split where the last wave would leave most of them idle.

#include "../scheduler.cl"

#define CLUSTER (CLUSTER_M * CLUSTER_N)  // work-groups whose tiles are neighbours

// The work of all work-groups. Tiles are counted over C and then over the batch. If this consists of even and odd rows of one
// matrix (ODD_ROW_LEAD), rows of tiles of the two alternate.
typedef struct {
    int tiles_m, tiles_n;  // of C; here and below a cluster's tiles count as one, and so do its work-groups
    int steps;             // of BK, of a tile
    int whole;             // tiles of the full waves: work-group g computes number g, g + groups, ...
    int left;              // tiles of the tail wave, each in TAIL_SPLIT parts: one for each of the first work-groups
    int group, groups;
    int rank;              // the work-group's number in its cluster
} Grid;

typedef struct {
    int m, n;    // first row and column of C
    int matrix;  // of the batch
} Origin;

// What a work-group does at a time: a tile, or some steps of one.
typedef struct {
    int tile;
    int part;  // of TAIL_SPLIT, if the tile is not whole
    int first, steps;
} WorkTile;

INLINE WorkTile split_of(const Grid grid, const int tile, const int part)
{
    const int first = part * grid.steps / TAIL_SPLIT;
    const WorkTile work = {tile, part, first, (part + 1) * grid.steps / TAIL_SPLIT - first};
    return work;
}

#if ONE_WAVE
// With one tile, or one part of one, for each work-group, its three numbers say which. Nothing is divided then but by constants:
// a division of integers takes part of a microsecond, which is much before a product of five.
INLINE Origin origin_of(const Grid grid, const int tile)
{
    const Origin place = {(int)get_group_id(0) * BM, (int)get_group_id(1) * BN, (int)get_group_id(2) / TAIL_SPLIT};
    return place;
}

INLINE WorkTile first_work(const Grid grid)
{
    const int tile = (get_group_id(2) / TAIL_SPLIT * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
    return split_of(grid, tile, get_group_id(2) % TAIL_SPLIT);
}

INLINE WorkTile next_work(const Grid grid, const WorkTile work)
{
    const WorkTile none = {0, 0, 0, 0};
    return none;
}

INLINE int tail_tile(const Grid grid, const WorkTile work)
{
    return work.tile;
}
#else
INLINE Origin origin_of(const Grid grid, const int tile)
{
    const int turns = ODD_ROW_LEAD ? 2 : 1, rows = grid.tiles_m * turns, area = rows * grid.tiles_n;
    const int2 at = swizzled_tile(tile % area, rows, grid.tiles_n);
    Origin place;
    place.m = (at.x / turns * CLUSTER_M + grid.rank % CLUSTER_M) * BM;
    place.n = (at.y * CLUSTER_N + grid.rank % CLUSTER_N) * BN;
    place.matrix = ODD_ROW_LEAD ? at.x % turns : tile / area;
    return place;
}

// Full waves come first, then the first part of each tile of the tail wave, then the second part of each, and so on.
INLINE WorkTile work_at(const Grid grid, const int number)
{
    const WorkTile whole = {number, 0, 0, grid.steps}, none = {0, 0, 0, 0};
    if (number < grid.whole)
        return whole;
#if TAIL_SPLIT > 1
    const int place = number - grid.whole;
    if (place < grid.left * TAIL_SPLIT)
        return split_of(grid, grid.whole + place % grid.left, place / grid.left);
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

// The number among the tiles of the tail wave of what this work-group computes.
INLINE int tail_tile(const Grid grid, const WorkTile work)
{
    return (work.tile - grid.whole) * CLUSTER + grid.rank;
}
#endif
