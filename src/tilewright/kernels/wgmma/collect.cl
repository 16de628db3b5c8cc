// How gemm.cl adds up a tile whose steps of k were shared out among work-groups.

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

#if SPLIT == 1
// The last one that comes adds all.
//
// Adds to a consumer's sums what other work-groups summed of the same tile, if all of them have; else leaves its own sums
// for them in `partial`, and answers 0. Each work-group has room for two tiles there: one that it begins in the middle of,
// and one that it leaves in the middle. `tickets` counts who has come, and is 0 again in the end.
INLINE int collect(COMPONENT sums[BLOCKS][WN / 2], const Grid grid, const Share share, __global COMPONENT* partial,
                   __global uint* tickets, __local int* answer, const int consumer, const int item)
{
    const int begin = (share.tile - grid.whole) * grid.steps;
    const int first_owner = owner_of(grid, begin), owners = owner_of(grid, begin + grid.steps - 1) - first_owner + 1;
    if (owners == 1)
        return 1;
    const size_t room = BLOCKS * WN / 2 * 128, slot = room * CONSUMERS;
    partial += consumer * room + item * 4;
    __global COMPONENT* own = partial + slot * (2 * grid.group + (grid.group == first_owner));
    leave_sums(sums, own);
    fence_acq_rel_gpu();
    bar_sync(1 + consumer, 128);
    tickets += (share.tile - grid.whole) * CONSUMERS + consumer;
    if (item == 0) {
        answer[consumer] = atomic_inc((volatile __global uint*)tickets) == owners - 1;
        if (answer[consumer])
            *tickets = 0;
    }
    bar_sync(1 + consumer, 128);
    if (!answer[consumer])
        return 0;
    fence_acq_rel_gpu();
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i++)
        sums[i / (WN / 2)][i % (WN / 2)] = 0;
    for (int owner = first_owner; owner < first_owner + owners; owner++) {
        const __global COMPONENT* other = partial + slot * (2 * owner + (owner == first_owner));
#pragma unroll
        for (int i = 0; i < BLOCKS * WN / 2; i += 4)
            add_sums(sums[i / (WN / 2)] + i % (WN / 2), other, i);
    }
    return 1;
}
#else
#define FOURS (BLOCKS * WN / 8)              // sums of a work-item, as they lie in `partial`
#define SLICE ((FOURS + SPLIT - 1) / SPLIT)  // of them that one work-group finishes

// Each finishes a slice. The k of every tile is cut into SPLIT pieces; a work-group leaves its sums in `partial`, waits for
// the others of its tile, and adds up its share of all. The wait ends, since all work-groups run at a time. `tickets`
// counts who has come, and who has seen that all have; it is 0 again in the end.
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
#endif
