// The fix-up of split-K and stream-K: the partial tiles of work-groups that share a tile's k become the sums of the whole tile.
//
// PARTIAL_WIDTH    components of a vector: a work-item writes its sums by such vectors, and reads them back
// PARTIAL_VECTORS  vectors of a work-item in a partial tile
// PARTIAL_ITEMS    work-items that write a partial tile: a work-item's next vector is so many vectors further
// WARP_FIXUP       1 if each warp of a work-group has semaphores of its own; 0 or undefined: the work-group has one
//
// The partial tiles of a tile follow each other in global memory in the order of k. They are added up in this order, by
// whichever work-group, so the result is the same at every run. A semaphore is 0 before the launch and after it. It is used
// in one of two ways:
//
// - Each work-group stores its partial tile and arrives. The last one to arrive adds up all partial tiles (arrives_last). No
//   work-group waits for another.
// - Each work-group stores its partial tile and arrives, waits for the others, adds up a part of the tile and departs
//   (await_arrivals, depart). All work-groups of the launch must run at a time.

#define PARTIAL_VECTOR JOIN(COMPONENT, PARTIAL_WIDTH)
// From a work-item's first vector to its vector number `vector` in partial tile `number`.
#define PARTIAL_PLACE(number, vector) (((number) * PARTIAL_VECTORS + (vector)) * PARTIAL_ITEMS)

#if PARTIAL_WIDTH == 4
#define PARTIAL_SUMS(sum) MAKE4(COMPONENT, (sum)[0], (sum)[1], (sum)[2], (sum)[3])
#else
#define PARTIAL_SUMS(sum) MAKE2(COMPONENT, (sum)[0], (sum)[1])
#endif

INLINE void add_vector(COMPONENT* sum, const PARTIAL_VECTOR other)
{
    sum[0] = ADD(sum[0], other.x);
    sum[1] = ADD(sum[1], other.y);
#if PARTIAL_WIDTH == 4
    sum[2] = ADD(sum[2], other.z);
    sum[3] = ADD(sum[3], other.w);
#endif
}

// Stores a work-item's sums in partial tile `number` of a tile.
INLINE void store_partial(const COMPONENT* sum, __global COMPONENT* partials, const int number)
{
    __global PARTIAL_VECTOR* own = (__global PARTIAL_VECTOR*)partials + get_local_id(0);
#pragma unroll
    for (int i = 0; i < PARTIAL_VECTORS; i++)
        own[PARTIAL_PLACE(number, i)] = PARTIAL_SUMS(sum + i * PARTIAL_WIDTH);
}

// A work-item's sums over all partial tiles of a tile.
INLINE void add_partials(COMPONENT* sum, const __global COMPONENT* partials, const int count)
{
    const __global PARTIAL_VECTOR* own = (const __global PARTIAL_VECTOR*)partials + get_local_id(0);
    fence_acq_rel_gpu();
#pragma unroll
    for (int i = 0; i < PARTIAL_VECTORS * PARTIAL_WIDTH; i++)
        sum[i] = 0;
    for (int number = 0; number < count; number++)
#pragma unroll
        for (int i = 0; i < PARTIAL_VECTORS; i++)
            add_vector(sum + i * PARTIAL_WIDTH, own[PARTIAL_PLACE(number, i)]);
}

#if WARP_FIXUP
// Whether this warp is the last of `count` to arrive. What the others wrote before is seen after the next fence. All
// work-items of the warp must get here.
INLINE int arrives_last(volatile __global int* semaphore, const int count)
{
    uint arrived = 0;
    fence_acq_rel_gpu();
    bar_warp_sync();
    if (get_local_id(0) % 32 == 0) {
        arrived = atomic_inc(semaphore);
        if (arrived == count - 1)
            *semaphore = 0;
    }
    return shfl_sync_idx(arrived, 0) >= count - 1;
}
#else
// The same for work-groups. `arrived` is room for an int in local memory.
INLINE int arrives_last(volatile __global int* semaphore, const int count, local int* arrived)
{
    fence_acq_rel_gpu();
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        *arrived = atomic_inc(semaphore);
        if (*arrived == count - 1)
            *semaphore = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return *arrived >= count - 1;
}
#endif

// One work-item waits until `count` have arrived.
INLINE void await_arrivals(volatile __global int* semaphore, const int count)
{
#ifndef EMULATED
    while (*semaphore < count)
        ;
#endif
}

// One work-item of `count` that have arrived says that its work-group needs the partial tiles no longer.
INLINE void depart(volatile __global int* semaphore, const int count)
{
    if (atomic_inc(semaphore) == 2 * count - 1)
        *semaphore = 0;
}
