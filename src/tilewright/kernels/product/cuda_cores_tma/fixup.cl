// How sums of one tile come together: sliced-K in local memory, stream-K in global memory.

#define PARTIAL_WIDTH 4
#define PARTIAL_VECTORS OWN_FRAGMENTS
#define PARTIAL_ITEMS ITEMS
#include "../fixup.cl"

INLINE void add_exchanged(COMPONENT* sum, const FRAGMENT other)
{
    sum[1] += other.x, sum[0] += other.y, sum[3] += other.z, sum[2] += other.w;
}

#if SLICED_K > 1
// Slice s gets, in its rows from s * ROWS on, what all slices have summed there.
INLINE void reduce_slices(COMPONENT sum[TM][TN], local COMPONENT* room, const int slice)
{
    local FRAGMENT* sums = (local FRAGMENT*)room + get_local_id(0) % SLICE_ITEMS;
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
INLINE void store_exchanged(const COMPONENT sum[TM][TN], const int slice, __global COMPONENT* partial,
                            volatile __global int* semaphore)
{
    __global FRAGMENT* own = (__global FRAGMENT*)partial + get_local_id(0);
#pragma unroll
    for (int i = 0; i < FRAGMENTS; i++)
        if (i / OWN_FRAGMENTS == slice)
            own[PARTIAL_PLACE(0, i % OWN_FRAGMENTS)] = exchanged(sum[0] + 4 * i);
    fence_acq_rel_gpu();
    bar_sync(1, ITEMS);
    if (get_local_id(0) == 0)
        atomic_inc(semaphore);
}

// Adds up AT_ONCE fragments, `first` and every `step`-th after it, over all partial tiles.
INLINE void add_fragments(FRAGMENT total[AT_ONCE], const __global COMPONENT* partials, const int count, const int first,
                          const int step)
{
    const __global FRAGMENT* own = (const __global FRAGMENT*)partials + get_local_id(0);
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        total[i] = MAKE4(COMPONENT, 0, 0, 0, 0);
#pragma unroll 4
    for (int number = 0; number < count; number++)
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (first + i * step < OWN_FRAGMENTS)
                total[i] += own[PARTIAL_PLACE(number, first + i * step)];
}

// Finishes this work-group's part of a tile of `count` work-groups: fragment `group`, and every `count`-th after it.
INLINE void reduce_and_store(const __global COMPONENT* partials, const int group, const int count, const int slice,
                             const Target target, const int2 first, const long batch)
{
    for (int i = group; i < OWN_FRAGMENTS; i += AT_ONCE * count) {
        FRAGMENT total[AT_ONCE];
        add_fragments(total, partials, count, i, count);
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const int own = i + j * count, fragment = slice * OWN_FRAGMENTS + own;
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
        const TileGroups groups = groups_of(tile, steps, tail_panels);
        const int2 first = (tile_coordinates((whole + tile) % area, rows, columns) * MAKE2(int, BM, BN) + corner) / PARTS;
        if (groups.count > 1) {
            if (get_local_id(0) == 0)
                await_arrivals(semaphores + tile, groups.count);
            bar_sync(1, ITEMS);
            fence_acq_rel_gpu();
            // Counted over all tiles, the partial tiles before this one's are one for each group before, and one for each tile.
            reduce_and_store(partial + (size_t)(groups.first + tile) * PARTIAL_ELEMENTS, group - groups.first, groups.count, slice,
                             target, first, (whole + tile) / area);
            bar_sync(1, ITEMS);
            if (get_local_id(0) == 0)
                depart(semaphores + tile, groups.count);
        }
    }
}
