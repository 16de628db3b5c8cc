// A scan of a work-group from the scans of its sub-groups.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__kernel void scan_by_sub_groups(__global const uint* in, __global uint* out)
{
    __local uint totals[64];
    uint own = in[get_global_id(0)];
    uint before = sub_group_scan_exclusive_add(own);
    uint largest = sub_group_broadcast(before + own, get_sub_group_size() - 1);
    if (get_sub_group_local_id() == 0)
        totals[get_sub_group_id()] = largest;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < get_sub_group_id(); i++)
        before += totals[i];
    out[get_global_id(0)] = before;
}
