// From the sums that a warp has to those of the tile that it finishes: octets of eight rows and columns, row by row, two
// elements of each.

#define PAIR JOIN(COMPONENT, 2)
#define OCTET(i) ((i) / (2 * PARTS))  // in which the sum number `i` of a warp's tile lies
#define SUM_AT(sum, i) \
    ((sum)[OCTET(i) / OCTETS / 2][OCTET(i) % OCTETS * PARTS + (i) % PARTS][OCTET(i) / OCTETS % 2 * 2 + (i) / PARTS % 2])

#if WARPS_K == 1
INLINE void all_sums(COMPONENT* own, COMPONENT (*sum)[TILES_N][4])
{
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        own[i] = SUM_AT(sum, i);
}
#else
// Adds up the sums of warps that have multiplied different slices of the depth, always in the order of k. Each stores all of
// its own in local memory, and finishes as many octets of the tile as any other. All work-items must get here, and to
// another barrier before they do so again.
INLINE void reduce_slices(COMPONENT* own, COMPONENT (*sum)[TILES_N][4], local PAIR* sums_of_slices)
{
    const int slice = get_local_id(0) / SLICE_ITEMS;
    local PAIR* place = sums_of_slices + get_local_id(0) % SLICE_ITEMS;
#pragma unroll
    for (int i = 0; i < WARPS_K * SUMS / 2; i++)
        place[(slice * WARPS_K * SUMS / 2 + i) * SLICE_ITEMS] = MAKE2(COMPONENT, SUM_AT(sum, 2 * i), SUM_AT(sum, 2 * i + 1));
    barrier(CLK_LOCAL_MEM_FENCE);
    place += slice * SUMS / 2 * SLICE_ITEMS;
#pragma unroll
    for (int i = 0; i < SUMS / 2; i++) {
        PAIR total = place[i * SLICE_ITEMS];
#pragma unroll
        for (int other = 1; other < WARPS_K; other++)
            total += place[(other * WARPS_K * SUMS / 2 + i) * SLICE_ITEMS];
        own[2 * i] = total.x, own[2 * i + 1] = total.y;
    }
}
#endif
