// The fix-up of a tile whose panels several work-groups have multiplied.

#if STREAM_K
#include "../fixup.cl"
#include "partial_tiles.cl"

// Returns 0 to all but the work-group that is ready last, which gets the whole sum. All work-items must get here.
INLINE int fix_up(COMPONENT* sum, __global COMPONENT* partials_of_tile, volatile __global int* semaphore, __local int* arrived,
                const int partial_number, const int partials)
{
    store_partial(sum, partials_of_tile, partial_number);
    if (!arrives_last(semaphore, partials, arrived))
        return 0;
    fence_acq_rel_gpu();
    add_partials(sum, partials_of_tile, partials);
    return 1;
}
#endif
