// Which tiles of C, and which part of K of them, a work-group computes, one after the other.
//
// The tiles of all matrices of the batch have one number. The first `whole` of them are dealt out in turn. What is left
// would keep only some work-groups busy: its panels, `steps` for each tile, are shared out evenly, so that a work-group
// may get the end of one tile and the beginning of the next. (Stream-K: Osama, Merrill, Cecka, Garland and Owens,
// "Stream-K: Work-centric parallel decomposition for dense matrix-matrix multiplication on the GPU", 2023, with whole
// tiles as long as there is one for every work-group.)

// Panels `first` to before `last` of tile `number`, and where the next part begins that is shared out.
typedef struct {
    int number, first, last, begin;
} Work;

// A division takes some hundred clocks, and several follow each other before a work-group's first copy: most can be left out.
INLINE int quotient(const int number, const int by)
{
    return number < by ? 0 : number / by;
}

// The first of `panels` that work-group `group` has a share of; the next one's first is where its share ends.
INLINE int first_panel(const int group, const int panels)
{
    return (int)((long)group * panels / (int)get_num_groups(0));
}

// Who has panel `panel` in its share.
INLINE int group_of(const int panel, const int panels)
{
    return (int)(((panel + 1L) * (int)get_num_groups(0) - 1) / panels);
}

INLINE Work before_work(const int whole, const int tiles, const int steps)
{
    Work work;
    work.number = (int)get_group_id(0) - (int)get_num_groups(0);
    work.first = work.last = 0;
    work.begin = first_panel(get_group_id(0), (tiles - whole) * steps);
    return work;
}

// Goes on to the next part, or to one that is empty: then there is no more.
INLINE void next_work(Work* work, const int whole, const int tiles, const int steps)
{
    work->number += (int)get_num_groups(0);
    work->first = 0;
    work->last = work->number < whole ? steps : 0;
#if SHARED
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

// Row and column, in tiles, of tile number `number` of a matrix: down GROUP_M rows of tiles, then the next column of them,
// so that work-groups which run at a time share panels in cache.
INLINE int2 tile_place(const int number, const int M, const int N)
{
    const int tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN;
    const int band = GROUP_M * tiles_n;
    const int bands = quotient(number, band), first = bands * GROUP_M;
    const int height = min(GROUP_M, tiles_m - first), inside = number - bands * band;
    if (height == GROUP_M)
        return (int2)(first + inside % GROUP_M, inside / GROUP_M);
    return (int2)(first + inside % height, inside / height);
}

INLINE int tiles_of_matrix(const int M, const int N)
{
    return ((M + BM - 1) / BM) * ((N + BN - 1) / BN);
}

// Row and column of C where tile number `number` of all begins, and which matrix of the batch has it.
INLINE int4 tile_begin(const int number, const int M, const int N)
{
    const int area = tiles_of_matrix(M, N), matrix = quotient(number, area);
    const int2 place = tile_place(number - matrix * area, M, N);
    return (int4)(place.x * BM, place.y * BN, matrix, 0);
}
