// Adding up a tile whose panels several work-groups have multiplied: the one that is ready last does it for all.
//
// Each leaves its sums in `pieces_of_tile`, piece after piece in the order of k, then draws a ticket. Nobody waits for
// anybody. The pieces are added up in their order, whoever does it: the result is the same at every run. A work-item reads
// back what it would have written itself, so all accesses are vectors side by side. The counter of tickets is 0 before the
// launch and after it.

#if SHARED
// Returns 0 to all but the work-group that is ready last, which gets the whole sum. All work-items must get here.
INLINE int join(COMPONENT* sum, __global COMPONENT* pieces_of_tile, volatile __global int* ticket, __local int* drawn,
                const int piece, const int pieces)
{
    typedef JOIN(COMPONENT, 2) Pair;
    __global Pair* own = (__global Pair*)pieces_of_tile + get_local_id(0);
#pragma unroll
    for (int i = 0; i < SUMS / 2; i++)
        own[(piece * SUMS / 2 + i) * ITEMS] = (Pair)(sum[2 * i], sum[2 * i + 1]);
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
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sum[i] = 0;
    for (int other = 0; other < pieces; other++)
#pragma unroll
        for (int i = 0; i < SUMS / 2; i++) {
            const Pair two = own[(other * SUMS / 2 + i) * ITEMS];
            sum[2 * i] += two.x;
            sum[2 * i + 1] += two.y;
        }
    return 1;
}
#endif
