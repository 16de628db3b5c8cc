// Adding up a tile whose panels several work-groups have multiplied: the one that is ready last does it for all.
//
// Each leaves its piece, then draws a ticket. Nobody waits for anybody. The counter of tickets is 0 before the launch and
// after it.

#if SHARED
#include "pieces.cl"

// Returns 0 to all but the work-group that is ready last, which gets the whole sum. All work-items must get here.
INLINE int join(COMPONENT* sum, __global COMPONENT* pieces_of_tile, volatile __global int* ticket, __local int* drawn,
                const int piece, const int pieces)
{
    leave_piece(sum, pieces_of_tile, piece);
    fence_acq_rel_gpu();
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        *drawn = atomic_inc(ticket);
        if (*drawn == pieces - 1)
            *ticket = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (*drawn < pieces - 1)
        return 0;
    fence_acq_rel_gpu();
    add_pieces(sum, pieces_of_tile, pieces);
    return 1;
}
#endif
