// How sums of one tile come together in fetched.cl, whose warps do not wait for each other: in global memory.

// Adds up a warp's part of a tile that several work-groups have a part of: each leaves its sums in `pieces_of_tile`, in the
// order of k, then draws a ticket. The one that is ready last adds them up in their order, so that the result is the same
// at every run; the others get 0. Tickets are 0 before the launch and after it. A warp asks no other one of its group.
INLINE int join(double* sum, __global double* pieces_of_tile, volatile __global int* ticket, const int piece, const int pieces)
{
    __global double2* own = (__global double2*)pieces_of_tile + get_local_id(0);
    uint drawn = 0;
#pragma unroll
    for (int i = 0; i < SUMS / 2; i++)
        own[(piece * SUMS / 2 + i) * ITEMS] = (double2)(sum[2 * i], sum[2 * i + 1]);
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
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sum[i] = 0;
    for (int other = 0; other < pieces; other++)
#pragma unroll
        for (int i = 0; i < SUMS / 2; i++) {
            const double2 two = own[(other * SUMS / 2 + i) * ITEMS];
            sum[2 * i] += two.x;
            sum[2 * i + 1] += two.y;
        }
    return 1;
}
