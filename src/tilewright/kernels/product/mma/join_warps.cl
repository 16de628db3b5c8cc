// The same as join.cl, warp by warp, as main_loop_tma.cl's do not wait for each other: the one that is ready last of those that have
// the same part of the tile adds it up.

#include "pieces.cl"

// Returns 0 to all but that warp, which gets the whole sum of its part. Tickets are 0 before the launch and after it.
INLINE int join(double* sum, __global double* pieces_of_tile, volatile __global int* ticket, const int piece, const int pieces)
{
    uint drawn = 0;
    leave_piece(sum, pieces_of_tile, piece);
    fence_acq_rel_gpu();
    bar_warp_sync();
    if (get_local_id(0) % 32 == 0) {
        drawn = atomic_inc(ticket);
        if (drawn == pieces - 1)
            *ticket = 0;
    }
    if (shfl_sync_idx(drawn, 0) < pieces - 1)
        return 0;
    fence_acq_rel_gpu();
    add_pieces(sum, pieces_of_tile, pieces);
    return 1;
}
