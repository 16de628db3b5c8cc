// The fix-up of tail split: a tile's work-groups, one for each part of its k, leave partial tiles for each other. Each then adds
// up one slice of the tile from all partial tiles, and keeps that slice of its own in registers.

#define FOURS (BLOCKS * WN / 8)              // sums of a work-item, four at a time: those of neighbours lie side by side
#define SLICE ((FOURS + TAIL_SPLIT - 1) / TAIL_SPLIT)  // of them that one work-group finishes

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

// Waits until all partial tiles are there. That ends, as all work-groups run at a time. The semaphore `ticket` counts arrivals,
// then departures, and is 0 again in the end.
INLINE void meet_others(volatile __global uint* ticket, const int consumer, const int item)
{
    bar_sync(1 + consumer, 128);
    if (item == 0) {
        fence_acq_rel_gpu();
        atomic_inc(ticket);
        while (*ticket < TAIL_SPLIT)
            ;
        fence_acq_rel_gpu();
    }
    bar_sync(1 + consumer, 128);
    if (item == 32 && atomic_inc(ticket) == 2 * TAIL_SPLIT - 1)
        *ticket = 0;
}

// Adds up and stores a slice of a consumer's part of tile number `tile` of the tail wave. This work-group has part `own` of k.
INLINE void finish_slice(COMPONENT sums[BLOCKS][WN / 2], const Part part, const int tile, const int own,
                         const ACC alpha, const ACC beta, __global RESULT* C, const long c_row, const __global RESULT* bias,
                         const long bias_row, const long bias_column, __global COMPONENT* partial, __global uint* tickets,
                         const int consumer, const int item)
{
    const size_t room = BLOCKS * WN / 2 * 128, slot = room * CONSUMERS;
    COMPONENT slice[SLICE][4], total[SLICE][4];
    partial += slot * TAIL_SPLIT * tile + room * consumer + item * 4;
    leave_sums(sums, slice, own, partial + slot * own);
    meet_others(tickets + tile * CONSUMERS + consumer, consumer, item);
#pragma unroll
    for (int of_slice = 0; of_slice < SLICE; of_slice++) {
        const int four = min(own * SLICE + of_slice, FOURS - 1);
        JOIN(COMPONENT, 4) sum = 0;
#pragma unroll
        for (int piece = 0; piece < TAIL_SPLIT; piece++)  // in this order, so that the bits are the same at every run
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
