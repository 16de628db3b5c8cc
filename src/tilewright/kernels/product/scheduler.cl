// The tile scheduler: in which order tiles of C are computed, and which parts of them each work-group gets.
//
// BM, BN          the tile of C that a work-group computes
// GROUP_M         rows of tiles of a swizzle group. Tiles are numbered down the rows of a group, then its next column: work-groups
//                 that run at a time then share panels of A and B in the L2 cache
// SKIP_DIVISIONS  1 to skip divisions whose result is known by a comparison. A division takes some hundred clocks, and several
//                 precede a work-group's first copy. 0 where a launch has one tile for each work-group
// STREAM_K        left undefined where a work-group computes whole tiles only. Else `Work` says what it computes: 1 if the tiles
//                 of the tail wave are split evenly among all work-groups, 0 if no launch has such tiles

#ifndef SKIP_DIVISIONS
#define SKIP_DIVISIONS 0
#endif

INLINE int quotient(const int number, const int by)
{
#if SKIP_DIVISIONS
    return number < by ? 0 : number / by;
#else
    return number / by;
#endif
}

// Row and column, in tiles, of tile number `number` of a matrix of tiles_m x tiles_n tiles.
INLINE int2 swizzled_tile(const int number, const int tiles_m, const int tiles_n)
{
    const int group_tiles = GROUP_M * tiles_n;
    const int group = quotient(number, group_tiles), first = group * GROUP_M;
    const int height = min(GROUP_M, tiles_m - first);
#if SKIP_DIVISIONS
    const int inside = number - group * group_tiles;
    if (height == GROUP_M)  // divided by a constant
        return MAKE2(int, first + inside % GROUP_M, inside / GROUP_M);
#else
    const int inside = number % group_tiles;
#endif
    return MAKE2(int, first + inside % height, inside / height);
}

// The same for a matrix of M x N elements.
INLINE int2 tile_coordinates(const int number, const int M, const int N)
{
    return swizzled_tile(number, (M + BM - 1) / BM, (N + BN - 1) / BN);
}

INLINE int tiles_of_matrix(const int M, const int N)
{
    return ((M + BM - 1) / BM) * ((N + BN - 1) / BN);
}

// Row and column of C where tile number `number` of a batch begins, and its matrix of the batch.
INLINE int4 tile_origin(const int number, const int M, const int N)
{
    const int area = tiles_of_matrix(M, N), matrix = quotient(number, area);
    const int2 place = tile_coordinates(number - matrix * area, M, N);
    return MAKE4(int, place.x * BM, place.y * BN, matrix, 0);
}

#ifdef STREAM_K
// The tiles of all matrices of the batch have one number. The first `whole` of them, the full waves, go to the work-groups
// in rotation. The tail wave would keep only some work-groups busy. So its panels, `steps` for each tile, are split evenly: a
// work-group may get the end of one tile and the beginning of the next. (Stream-K: Osama, Merrill, Cecka, Garland and Owens,
// "Stream-K: Work-centric parallel decomposition for dense matrix-matrix multiplication on the GPU", 2023, with whole tiles as
// long as each work-group gets one.)

// Panels `first` to before `last` of tile `number`, and the first panel of the tail wave that this work-group has next.
typedef struct {
    int number, first, last, begin;
} Work;

// The first of `panels` that work-group `group` multiplies. The next work-group's first one is where it ends.
INLINE int first_panel(const int group, const int panels)
{
    return (int)((long)group * panels / (int)get_num_groups(0));
}

// The work-group that multiplies panel `panel`.
INLINE int group_of(const int panel, const int panels)
{
    return (int)(((panel + 1L) * (int)get_num_groups(0) - 1) / panels);
}

// The work-groups that compute a tile of the tail wave: the first of them, and how many they are. Each leaves a partial tile.
typedef struct {
    int first, count;
} TileGroups;

INLINE TileGroups groups_of(const int tile, const int steps, const int panels)
{
    TileGroups groups;
    groups.first = group_of(tile * steps, panels);
    groups.count = group_of(tile * steps + steps - 1, panels) - groups.first + 1;
    return groups;
}

INLINE Work before_work(const int whole, const int tiles, const int steps)
{
    Work work;
    work.number = (int)get_group_id(0) - (int)get_num_groups(0);
    work.first = work.last = 0;
    work.begin = first_panel(get_group_id(0), (tiles - whole) * steps);
    return work;
}

// Goes on to the next part. An empty part ends the work.
INLINE void next_work(Work* work, const int whole, const int tiles, const int steps)
{
    work->number += (int)get_num_groups(0);
    work->first = 0;
    work->last = work->number < whole ? steps : 0;
#if STREAM_K
    if (work->number >= whole) {
        const int end = first_panel((int)get_group_id(0) + 1, (tiles - whole) * steps);
        const int further = quotient(work->begin, steps);
        work->number = whole + further;
        work->first = work->begin - further * steps;
        work->last = min(steps, work->first + end - work->begin);
        work->begin += work->last - work->first;
        if (work->first >= work->last)
            work->number = tiles;
    }
#endif
}
#endif
