// The fix-up of split-K and stream-K: the partial tiles of work-groups that share a tile's k become the sums of the whole tile.
//
// Each work-group leaves its partial tile in global memory and arrives at the tile's semaphore, and the last one to arrive adds
// up all partial tiles. So no work-group waits for another. A semaphore is 0 before the launch and after it.

// Whether this work-group is the last of `partials` to arrive. What the others wrote before is seen after the next fence. All
// work-items must get here; `arrived` is room for an int in local memory.
INLINE int arrives_last(volatile __global int* semaphore, const int partials, local int* arrived)
{
    fence_acq_rel_gpu();
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        *arrived = atomic_inc(semaphore);
        if (*arrived == partials - 1)
            *semaphore = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return *arrived >= partials - 1;
}
