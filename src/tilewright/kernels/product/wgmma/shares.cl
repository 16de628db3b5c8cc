// The tile scheduler of main_loop.cl: persistent work-groups, and tail split where the last wave would leave most of them idle.

#include "../scheduler.cl"

// The work of all work-groups. Tiles are counted over C and then over the batch. If this consists of even and odd rows of one
// matrix (ODD_ROW_LEAD), rows of tiles of the two alternate.
typedef struct {
    int tiles_m, tiles_n;  // of C
    int steps;             // of BK, of a tile
    int whole;             // tiles of the full waves: work-group g computes number g, g + groups, ...
    int left;              // tiles of the tail wave, each in TAIL_SPLIT parts: one for each of the first work-groups
    int group, groups;
} Grid;

typedef struct {
    int m, n;    // first row and column of C
    int matrix;  // of the batch
} Place;

// What a work-group does at a time: a tile, or some steps of one.
typedef struct {
    int tile;
    int part;  // of TAIL_SPLIT, if the tile is not whole
    int first, steps;
} Share;

typedef struct {
    int stage;
    uint parity;
} Turn;

INLINE Turn next_turn(Turn turn)
{
    turn.stage += 1;
    if (turn.stage == STAGES) {
        turn.stage = 0;
        turn.parity ^= 1;
    }
    return turn;
}

INLINE Share share_of(const Grid grid, const int tile, const int part)
{
    const int first = part * grid.steps / TAIL_SPLIT;
    const Share share = {tile, part, first, (part + 1) * grid.steps / TAIL_SPLIT - first};
    return share;
}

#if ONE_WAVE
// With one tile, or one part of one, for each work-group, its three numbers say which. Nothing is divided then but by constants:
// a division of integers takes part of a microsecond, which is much before a product of five.
INLINE Place find_place(const Grid grid, const int tile)
{
    const Place place = {get_group_id(0) * BM, get_group_id(1) * BN, get_group_id(2) / TAIL_SPLIT};
    return place;
}

INLINE Share first_share(const Grid grid)
{
    const int tile = (get_group_id(2) / TAIL_SPLIT * grid.tiles_n + get_group_id(1)) * grid.tiles_m + get_group_id(0);
    return share_of(grid, tile, get_group_id(2) % TAIL_SPLIT);
}

INLINE Share next_share(const Grid grid, const Share share)
{
    const Share none = {0, 0, 0, 0};
    return none;
}
#else
INLINE Place find_place(const Grid grid, const int tile)
{
    const int turns = ODD_ROW_LEAD ? 2 : 1, rows = grid.tiles_m * turns, area = rows * grid.tiles_n;
    const int2 at = swizzled_tile(tile % area, rows, grid.tiles_n);
    Place place;
    place.m = at.x / turns * BM;
    place.n = at.y * BN;
    place.matrix = ODD_ROW_LEAD ? at.x % turns : tile / area;
    return place;
}

// Full waves come first, then the first part of each tile of the tail wave, then the second part of each, and so on.
INLINE Share share_at(const Grid grid, const int number)
{
    const Share whole = {number, 0, 0, grid.steps}, none = {0, 0, 0, 0};
    if (number < grid.whole)
        return whole;
#if TAIL_SPLIT > 1
    const int place = number - grid.whole;
    if (place < grid.left * TAIL_SPLIT)
        return share_of(grid, grid.whole + place % grid.left, place / grid.left);
#endif
    return none;
}

INLINE Share first_share(const Grid grid)
{
    return share_at(grid, grid.group);
}

INLINE Share next_share(const Grid grid, const Share share)
{
    return share_at(grid, share.tile + grid.groups);
}
#endif
