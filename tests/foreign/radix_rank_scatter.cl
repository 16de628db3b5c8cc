// Sorts keys of one group by one bit: ranks by a scan, then scattered.
__kernel void radix_rank_scatter(__global const uint* in, __global uint* out, uint bit)
{
    __local uint flags[65];
    const uint lid = get_local_id(0), n = get_local_size(0);
    const uint key = in[get_global_id(0)];
    const uint zero = !((key >> bit) & 1u);
    flags[lid + 1] = zero;
    if (lid == 0)
        flags[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step <= n; step <<= 1) {
        uint before = lid + 1 >= step ? flags[lid + 1 - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid + 1 >= step)
            flags[lid + 1] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const uint zeros = flags[n];
    const uint rank = zero ? flags[lid] : zeros + lid - flags[lid];
    out[get_group_id(0) * n + rank] = key;
}
