// The same as fixup.cl, warp by warp, as main_loop_tma.cl's do not wait for each other: the one that is ready last of those that have
// the same part of the tile adds it up.

#include "partial_tiles.cl"

// Returns 0 to all but that warp, which gets the whole sum of its part. Tickets are 0 before the launch and after it.
INLINE int fix_up(double* sum, __global double* partials_of_tile, volatile __global int* semaphore, const int partial_number, const int partials)
{
    uint arrived = 0;
    store_partial(sum, partials_of_tile, partial_number);
    fence_acq_rel_gpu();
    bar_warp_sync();
    if (get_local_id(0) % 32 == 0) {
        arrived = atomic_inc(semaphore);
        if (arrived == partials - 1)
            *semaphore = 0;
    }
    if (shfl_sync_idx(arrived, 0) < partials - 1)
        return 0;
    fence_acq_rel_gpu();
    add_partials(sum, partials_of_tile, partials);
    return 1;
}
