// Sums of integers by sub-groups, whatever their width: the group's sum in each element.
#if defined(cl_khr_subgroups) || defined(cl_intel_subgroups)
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
kernel void norm_by_sub_groups(global const int* src, global int* dst, local int* sums)
{
    int value = src[get_global_id(0)];
    int total = sub_group_reduce_add(value);
    if (get_sub_group_local_id() == 0)
        sums[get_sub_group_id()] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    int all = 0;
    for (uint i = 0; i < get_num_sub_groups(); i++)
        all += sums[i];
    dst[get_global_id(0)] = all - value;
}
