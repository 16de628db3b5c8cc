// Which tiles of C, and which steps of k of them, a work-group of gemm.cl computes, one after another.

// The work of all work-groups. Tiles are counted over C and then over the batch.
typedef struct {
    int tiles_m, tiles_n;  // of C
    int steps;             // of BK, of a tile
    int whole;             // tiles that one work-group computes alone: number g, g + groups, ...
    int shared_steps;      // of all other tiles together
    int ranges;            // of about the same length, into which they are cut: one each for the first work-groups
    int group, groups;
} Grid;

typedef struct {
    int m, n;    // first row and column of C
    int matrix;  // of the batch
} Place;

// What a work-group does at a time: a tile, or some steps of one.
typedef struct {
    int tile;
    int first, steps;
    int next;  // step of the work-group's range at which it goes on
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

#if ALONE
// With one tile, or one part of one, for each work-group, its three numbers say which. Nothing is divided then but by constants:
// a division of integers takes part of a microsecond, which is much before a product of five.
INLINE Place find_place(const Grid grid, const int tile)
{
    const Place place = {get_group_id(0) * BM, get_group_id(1) * BN, get_group_id(2) / SPLIT};
    return place;
}

INLINE Share first_share(const Grid grid)
{
    const int piece = get_group_id(2) % SPLIT, first = piece * grid.steps / SPLIT;
    const int tile = (get_group_id(2) / SPLIT * grid.tiles_n + get_group_id(1)) * grid.tiles_m + get_group_id(0);
    const Share share = {tile, first, (piece + 1) * grid.steps / SPLIT - first, 0};
    return share;
}

INLINE Share next_share(const Grid grid, const Share share)
{
    const Share none = {0, 0, 0, 0};
    return none;
}
#else
INLINE Place find_place(const Grid grid, const int tile)
{
    const int area = grid.tiles_m * grid.tiles_n, number = tile % area;
    const int band = GROUP_M * grid.tiles_n, first = number / band * GROUP_M;
    const int height = min(GROUP_M, grid.tiles_m - first), in_band = number % band;
    Place place;
    place.m = (first + in_band % height) * BM;
    place.n = in_band / height * BN;
    place.matrix = tile / area;
    return place;
}

// Where the range of shared steps of a work-group begins, and which work-group's range a step is in.
INLINE int range_begin(const Grid grid, const int group)
{
    return (long)min(group, grid.ranges) * grid.shared_steps / grid.ranges;
}

INLINE int owner_of(const Grid grid, const int step)
{
    return (((long)step + 1) * grid.ranges - 1) / grid.shared_steps;
}

INLINE Share share_at(const Grid grid, const int tile, const int next)
{
    Share share = {tile, 0, grid.steps, next};
#if SHARED
    if (tile >= grid.whole) {
        share.tile = grid.whole + next / grid.steps;
        share.first = next % grid.steps;
        share.steps = min(grid.steps - share.first, range_begin(grid, grid.group + 1) - next);
        share.next += share.steps;
    }
#else
    if (tile >= grid.whole)
        share.steps = 0;
#endif
    return share;
}

INLINE Share first_share(const Grid grid)
{
    return share_at(grid, grid.group, SHARED ? range_begin(grid, grid.group) : 0);
}

INLINE Share next_share(const Grid grid, const Share share)
{
    return share_at(grid, share.tile + grid.groups, share.next);
}
#endif
