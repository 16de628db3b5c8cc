// How gemm.cl adds up a tile whose k was cut into parts: each of its work-groups leaves the sums of its part for the others, but
// for a slice of the tile, of which it adds up everyone's.

#define FOURS (BLOCKS * WN / 8)              // sums of a work-item, four at a time: those of neighbours lie side by side
#define SLICE ((FOURS + SPLIT - 1) / SPLIT)  // of them that one work-group finishes

// A consumer's sums to `partial`, those of slice number `own` to `slice`.
INLINE void leave_sums(COMPONENT sums[BLOCKS][WN / 2], COMPONENT slice[SLICE][4], const int own, __global COMPONENT* partial)
{
#pragma unroll
    for (int four = 0; four < FOURS; four++) {
        const COMPONENT* v = sums[four * 4 / (WN / 2)] + four * 4 % (WN / 2);
        if (four / SLICE == own)
            vstore4((JOIN(COMPONENT, 4))(v[0], v[1], v[2], v[3]), 0, slice[four % SLICE]);
        else
            *(__global JOIN(COMPONENT, 4)*)(partial + four * 4 * 128) = (JOIN(COMPONENT, 4))(v[0], v[1], v[2], v[3]);
    }
}

// Waits until all have left theirs, which ends, since all work-groups run at a time. `ticket` counts who has come, and who has
// seen that all have; it is 0 again in the end.
INLINE void meet_others(volatile __global uint* ticket, const int consumer, const int item)
{
    bar_sync(1 + consumer, 128);
    if (item == 0) {
        fence_acq_rel_gpu();
        atomic_inc(ticket);
        while (*ticket < SPLIT)
            ;
        fence_acq_rel_gpu();
    }
    bar_sync(1 + consumer, 128);
    if (item == 32 && atomic_inc(ticket) == 2 * SPLIT - 1)
        *ticket = 0;
}

// Adds up and stores a slice of a consumer's part of tile number `tile` of those that are cut, of whose k this is piece `own`.
INLINE void finish_slice(COMPONENT sums[BLOCKS][WN / 2], const Part part, const int tile, const int own,
                         const ACC alpha, const ACC beta, __global RESULT* C, const long c_row, const __global RESULT* bias,
                         const long bias_row, const long bias_column, __global COMPONENT* partial, __global uint* tickets,
                         const int consumer, const int item)
{
    const size_t room = BLOCKS * WN / 2 * 128, slot = room * CONSUMERS;
    COMPONENT slice[SLICE][4], total[SLICE][4];
    partial += slot * SPLIT * tile + room * consumer + item * 4;
    leave_sums(sums, slice, own, partial + slot * own);
    meet_others(tickets + tile * CONSUMERS + consumer, consumer, item);
#pragma unroll
    for (int of_slice = 0; of_slice < SLICE; of_slice++) {
        const int four = min(own * SLICE + of_slice, FOURS - 1);
        JOIN(COMPONENT, 4) sum = 0;
#pragma unroll
        for (int piece = 0; piece < SPLIT; piece++)  // in this order, so that the bits are the same at every run
            sum += piece == own ? vload4(0, slice[of_slice])
                                : *(const __global JOIN(COMPONENT, 4)*)(partial + slot * piece + four * 4 * 128);
        vstore4(sum, 0, total[of_slice]);
    }
#pragma unroll
    for (int of_slice = 0; of_slice < SLICE; of_slice++) {
        const int four = own * SLICE + of_slice;
#pragma unroll
        for (int i = 0; i < 4; i += C_VEC) {
            const int2 at = place_of(part, four * 4 + i, item);
            if (four < FOURS && at.x < part.M && at.y < part.N)
                finish(total[of_slice] + i, alpha, beta, C + at.x * c_row + at.y, bias + at.x * bias_row + at.y * bias_column,
                       bias_column);
        }
    }
}
