// How sums of one tile come together: those of slices in local memory, those of work-groups in global memory.

INLINE void add_exchanged(COMPONENT* sum, const FRAGMENT held)
{
    sum[1] += held.x, sum[0] += held.y, sum[3] += held.z, sum[2] += held.w;
}

#if SLICES > 1
// Slice s gets, in its rows from s * ROWS on, what all slices have summed there.
INLINE void add_up_slices(COMPONENT sum[TM][TN], __local COMPONENT* held, const int slice)
{
    __local FRAGMENT* sums = (__local FRAGMENT*)held + get_local_id(0) % SLICE_ITEMS;
    bar_sync(1, ITEMS);
#pragma unroll
    for (int i = 0; i < FRAGMENTS; i++)
        if (i / OWN_FRAGMENTS != slice)
            sums[(i * SLICES + slice) * SLICE_ITEMS] = exchanged(sum[0] + 4 * i);
    bar_sync(1, ITEMS);
    for (int other = 0; other < SLICES; other++)
#pragma unroll
        for (int i = 0; i < FRAGMENTS; i++)
            if (i / OWN_FRAGMENTS == slice && other != slice)
                add_exchanged(sum[0] + 4 * i, sums[(i * SLICES + other) * SLICE_ITEMS]);
}
#endif

// Leaves the sums of a tile that other work-groups have a part of, too, and says so on the tile's ticket. All
// work-items must get here.
INLINE void leave_piece(const COMPONENT sum[TM][TN], const int slice, __global COMPONENT* piece,
                        volatile __global int* ticket)
{
    __global FRAGMENT* own = (__global FRAGMENT*)piece + get_local_id(0);
#pragma unroll
    for (int i = 0; i < FRAGMENTS; i++)
        if (i / OWN_FRAGMENTS == slice)
            own[i % OWN_FRAGMENTS * ITEMS] = exchanged(sum[0] + 4 * i);
    fence_acq_rel_gpu();
    bar_sync(1, ITEMS);
    if (get_local_id(0) == 0)
        atomic_inc(ticket);
}

// Waits until all pieces of a tile are there. All work-groups of the launch run at a time, so that none waits in vain.
INLINE void await_pieces(const int pieces, volatile __global int* ticket)
{
    if (get_local_id(0) == 0)
#ifdef EMULATED
        ;
#else
        while (*ticket < pieces)
            ;
#endif
    bar_sync(1, ITEMS);
    fence_acq_rel_gpu();
}

// Says that this work-group needs the pieces no longer. Tickets are 0 before the launch and after it.
INLINE void release_pieces(const int pieces, volatile __global int* ticket)
{
    bar_sync(1, ITEMS);
    if (get_local_id(0) == 0 && atomic_inc(ticket) == 2 * pieces - 1)
        *ticket = 0;
}

// Adds up fragments `first` and on, `JOINED` of them `step` apart, in the order of k, so that the result is the same at
// every run.
INLINE void add_up(FRAGMENT total[JOINED], const __global COMPONENT* pieces_of_tile, const int pieces, const int first,
                   const int step)
{
    const __global FRAGMENT* own = (const __global FRAGMENT*)pieces_of_tile + get_local_id(0);
#pragma unroll
    for (int i = 0; i < JOINED; i++)
        total[i] = (FRAGMENT)(0);
#pragma unroll 4
    for (int other = 0; other < pieces; other++)
#pragma unroll
        for (int i = 0; i < JOINED; i++)
            if (first + i * step < OWN_FRAGMENTS)
                total[i] += own[(other * OWN_FRAGMENTS + first + i * step) * ITEMS];
}

// Finishes what this work-group has to of a tile whose pieces several have left: every so many fragments.
INLINE void finish_share(const __global COMPONENT* pieces_of_tile, const int piece, const int pieces, const int slice,
                         const Target target, const int2 first, const long batch)
{
    for (int i = piece; i < OWN_FRAGMENTS; i += JOINED * pieces) {
        FRAGMENT total[JOINED];
        add_up(total, pieces_of_tile, pieces, i, pieces);
#pragma unroll
        for (int j = 0; j < JOINED; j++) {
            const int own = i + j * pieces, fragment = slice * OWN_FRAGMENTS + own;
            const int row = first.x + row_of(fragment / (TN / 4)), column = first.y + column_of(fragment % (TN / 4) * 4);
            COMPONENT sum[4] = {total[j].y, total[j].x, total[j].w, total[j].z};
#pragma unroll
            for (int side = 0; side < 4; side += C_VEC * PARTS)
                if (own < OWN_FRAGMENTS)
                    store(sum + side, target, row, column + side / PARTS, batch);
        }
    }
}

// Joins the tiles that this work-group has left pieces of. Each of a tile's work-groups adds up a share of it, as soon as
// all pieces are there. Tiles that are shared out have at most two for each work-group.
INLINE void join(const __global COMPONENT* partial, volatile __global int* tickets, const Target target, const int slice,
                 const int2 corner, const int steps, const int whole, const int tiles)
{
    const int rows = target.M * PARTS, columns = target.N * PARTS, area = tiles_of_matrix(rows, columns);
    const int shared = (tiles - whole) * steps, group = get_group_id(0);
    const int end = first_panel(group + 1, shared);
#pragma unroll 1
    for (int tile = first_panel(group, shared) / steps; tile * steps < end; tile++) {
        const int leader = group_of(tile * steps, shared);
        const int pieces = group_of(tile * steps + steps - 1, shared) - leader + 1;
        const int2 first = (tile_place((whole + tile) % area, rows, columns) * (int2)(BM, BN) + corner) / PARTS;
        if (pieces > 1) {
            // Counted over all tiles, the pieces before this tile are one for each group before, and one for each tile.
            await_pieces(pieces, tickets + tile);
            finish_share(partial + (size_t)(leader + tile) * PIECE, group - leader, pieces, slice, target, first,
                         (whole + tile) / area);
            release_pieces(pieces, tickets + tile);
        }
    }
}
