// How sums of one tile come together: sliced-K in local memory, stream-K in global memory.

INLINE void add_exchanged(COMPONENT* sum, const FRAGMENT value)
{
    sum[1] += value.x, sum[0] += value.y, sum[3] += value.z, sum[2] += value.w;
}

#if SLICED_K > 1
// Slice s gets, in its rows from s * ROWS on, what all slices have summed there.
INLINE void reduce_slices(COMPONENT sum[TM][TN], __local COMPONENT* value, const int slice)
{
    __local FRAGMENT* sums = (__local FRAGMENT*)value + get_local_id(0) % SLICE_ITEMS;
    bar_sync(1, ITEMS);
#pragma unroll
    for (int i = 0; i < FRAGMENTS; i++)
        if (i / OWN_FRAGMENTS != slice)
            sums[(i * SLICED_K + slice) * SLICE_ITEMS] = exchanged(sum[0] + 4 * i);
    bar_sync(1, ITEMS);
    for (int other = 0; other < SLICED_K; other++)
#pragma unroll
        for (int i = 0; i < FRAGMENTS; i++)
            if (i / OWN_FRAGMENTS == slice && other != slice)
                add_exchanged(sum[0] + 4 * i, sums[(i * SLICED_K + other) * SLICE_ITEMS]);
}
#endif

// Stores this slice's sums of a tile that other work-groups have a part of, too, and arrives at the tile's semaphore. All
// work-items must get here.
INLINE void store_partial(const COMPONENT sum[TM][TN], const int slice, __global COMPONENT* partial_number,
                        volatile __global int* semaphore)
{
    __global FRAGMENT* own = (__global FRAGMENT*)partial_number + get_local_id(0);
#pragma unroll
    for (int i = 0; i < FRAGMENTS; i++)
        if (i / OWN_FRAGMENTS == slice)
            own[i % OWN_FRAGMENTS * ITEMS] = exchanged(sum[0] + 4 * i);
    fence_acq_rel_gpu();
    bar_sync(1, ITEMS);
    if (get_local_id(0) == 0)
        atomic_inc(semaphore);
}

// Waits until all partial tiles are there. All work-groups of the launch run at a time, so this ends.
INLINE void await_partials(const int partials, volatile __global int* semaphore)
{
    if (get_local_id(0) == 0)
#ifdef EMULATED
        ;
#else
        while (*semaphore < partials)
            ;
#endif
    bar_sync(1, ITEMS);
    fence_acq_rel_gpu();
}

// Says that this work-group needs the partial tiles no longer. Semaphores are 0 before the launch and after it.
INLINE void release_semaphore(const int partials, volatile __global int* semaphore)
{
    bar_sync(1, ITEMS);
    if (get_local_id(0) == 0 && atomic_inc(semaphore) == 2 * partials - 1)
        *semaphore = 0;
}

// Adds up AT_ONCE fragments, `first` and every `step`-th after it, over all partial tiles. The order is that of k, so the result is
// the same at every run.
INLINE void add_partials(FRAGMENT total[AT_ONCE], const __global COMPONENT* partials_of_tile, const int partials, const int first,
                   const int step)
{
    const __global FRAGMENT* own = (const __global FRAGMENT*)partials_of_tile + get_local_id(0);
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        total[i] = (FRAGMENT)(0);
#pragma unroll 4
    for (int other = 0; other < partials; other++)
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (first + i * step < OWN_FRAGMENTS)
                total[i] += own[(other * OWN_FRAGMENTS + first + i * step) * ITEMS];
}

// Finishes this work-group's part of a tile: fragment `partial_number`, and every `partials`-th after it.
INLINE void reduce_and_store(const __global COMPONENT* partials_of_tile, const int partial_number, const int partials, const int slice,
                         const Target target, const int2 first, const long batch)
{
    for (int i = partial_number; i < OWN_FRAGMENTS; i += AT_ONCE * partials) {
        FRAGMENT total[AT_ONCE];
        add_partials(total, partials_of_tile, partials, i, partials);
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const int own = i + j * partials, fragment = slice * OWN_FRAGMENTS + own;
            const int row = first.x + row_of(fragment / (TN / 4)), column = first.y + column_of(fragment % (TN / 4) * 4);
            COMPONENT sum[4] = {total[j].y, total[j].x, total[j].w, total[j].z};
#pragma unroll
            for (int side = 0; side < 4; side += C_VEC * PARTS)
                if (own < OWN_FRAGMENTS)
                    store(sum + side, target, row, column + side / PARTS, batch);
        }
    }
}

// Fixes up the tiles that this work-group has stored partial tiles of: at most two. Each of a tile's work-groups adds up a part of
// it, as soon as all partial tiles are there.
INLINE void fix_up(const __global COMPONENT* partial, volatile __global int* semaphores, const Target target, const int slice,
                 const int2 corner, const int steps, const int whole, const int tiles)
{
    const int rows = target.M * PARTS, columns = target.N * PARTS, area = tiles_of_matrix(rows, columns);
    const int tail_panels = (tiles - whole) * steps, group = get_group_id(0);
    const int end = first_panel(group + 1, tail_panels);
#pragma unroll 1
    for (int tile = first_panel(group, tail_panels) / steps; tile * steps < end; tile++) {
        const int first_group = group_of(tile * steps, tail_panels);
        const int partials = group_of(tile * steps + steps - 1, tail_panels) - first_group + 1;
        const int2 first = (tile_coordinates((whole + tile) % area, rows, columns) * (int2)(BM, BN) + corner) / PARTS;
        if (partials > 1) {
            // Counted over all tiles, the partial tiles before this one's are one for each group before, and one for each tile.
            await_partials(partials, semaphores + tile);
            reduce_and_store(partial + (size_t)(first_group + tile) * PARTIAL_ELEMENTS, group - first_group, partials, slice, target, first,
                         (whole + tile) / area);
            release_semaphore(partials, semaphores + tile);
        }
    }
}
