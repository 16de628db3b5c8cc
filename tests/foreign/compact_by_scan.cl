// Keeps the values above a limit, in their order, by a scan of a work-group.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void compact_by_scan(__global const float* in, __global float* kept, __global int* counts, float limit)
{
    __local int places[2][64];
    const int lid = get_local_id(0);
    const float value = in[get_global_id(0)];
    const int keep = value > limit ? 1 : 0;
    int now = 0;
    places[now][lid] = keep;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < 64; step *= 2) {
        places[1 - now][lid] = places[now][lid] + (lid >= step ? places[now][lid - step] : 0);
        now = 1 - now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (keep)
        kept[get_group_id(0) * 64 + places[now][lid] - 1] = value;
    if (lid == 63)
        counts[get_group_id(0)] = places[now][lid];
}
