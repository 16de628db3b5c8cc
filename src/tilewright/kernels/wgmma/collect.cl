// How gemm.cl adds up a tile whose k was cut into parts.

// A consumer's sums to `partial`, four at a time: those of neighbouring work-items lie side by side.
INLINE void leave_sums(COMPONENT sums[BLOCKS][WN / 2], __global COMPONENT* partial)
{
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i += 4) {
        const COMPONENT* v = sums[i / (WN / 2)] + i % (WN / 2);
        *(__global JOIN(COMPONENT, 4)*)(partial + i * 128) = (JOIN(COMPONENT, 4))(v[0], v[1], v[2], v[3]);
    }
}

// Adds the four from number `i` on that were left there.
INLINE void add_sums(COMPONENT* sums, const __global COMPONENT* partial, const int i)
{
    const JOIN(COMPONENT, 4) more = *(const __global JOIN(COMPONENT, 4)*)(partial + i * 128);
    sums[0] += more.x;
    sums[1] += more.y;
    sums[2] += more.z;
    sums[3] += more.w;
}

#define FOURS (BLOCKS * WN / 8)              // sums of a work-item, as they lie in `partial`
#define SLICE ((FOURS + SPLIT - 1) / SPLIT)  // of them that one work-group finishes

// Each work-group leaves the sums of its part in `partial`, waits for the others of its tile, and adds up its slice of all. The
// wait ends, since all work-groups run at a time. `tickets` counts who has come, and who has seen that all have; it is 0 again
// in the end. `tile` counts those that are cut.
INLINE void finish_slice(COMPONENT sums[BLOCKS][WN / 2], const Part part, const int tile, const int piece,
                         const ACC alpha, const ACC beta, __global RESULT* C, const long c_row, const __global RESULT* bias,
                         const long bias_row, const long bias_column, __global COMPONENT* partial, __global uint* tickets,
                         const int consumer, const int item)
{
    const size_t room = BLOCKS * WN / 2 * 128, slot = room * CONSUMERS;
    partial += slot * SPLIT * tile + room * consumer + item * 4;
    leave_sums(sums, partial + slot * piece);
    bar_sync(1 + consumer, 128);
    volatile __global uint* ticket = tickets + tile * CONSUMERS + consumer;
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
    COMPONENT slice[SLICE][4];
#pragma unroll
    for (int of_slice = 0; of_slice < SLICE; of_slice++) {
        const int four = min(piece * SLICE + of_slice, FOURS - 1);
#pragma unroll
        for (int i = 0; i < 4; i++)
            slice[of_slice][i] = 0;
#pragma unroll
        for (int other = 0; other < SPLIT; other++)
            add_sums(slice[of_slice], partial + slot * other, four * 4);
    }
#pragma unroll
    for (int of_slice = 0; of_slice < SLICE; of_slice++) {
        const int four = piece * SLICE + of_slice;
#pragma unroll
        for (int i = 0; i < 4; i += C_VEC) {
            const int2 at = place_of(part, four * 4 + i, item);
            if (four < FOURS && at.x < part.M && at.y < part.N)
                finish(slice[of_slice] + i, alpha, beta, C + at.x * c_row + at.y, bias + at.x * bias_row + at.y * bias_column,
                       bias_column);
        }
    }
}
