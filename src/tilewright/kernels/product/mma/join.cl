// The fix-up of a tile whose panels several work-groups have multiplied.

#if STREAM_K
#include "../fixup.cl"
#include "pieces.cl"

// Returns 0 to all but the work-group that is ready last, which gets the whole sum. All work-items must get here.
INLINE int join(COMPONENT* sum, __global COMPONENT* pieces_of_tile, volatile __global int* ticket, __local int* drawn,
                const int piece, const int pieces)
{
    leave_piece(sum, pieces_of_tile, piece);
    if (!arrives_last(ticket, pieces, drawn))
        return 0;
    fence_acq_rel_gpu();
    add_pieces(sum, pieces_of_tile, pieces);
    return 1;
}
#endif
