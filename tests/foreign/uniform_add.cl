// The sum of all groups before is added to each element of a group; one work-item reads it for all.
__kernel void uniform_add(__global uint4* d_Data, __global const uint* d_Buffer)
{
    __local uint buf[1];
    uint4 data4 = d_Data[get_global_id(0)];
    if (get_local_id(0) == 0)
        buf[0] = d_Buffer[get_group_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data4 += (uint4)buf[0];
    d_Data[get_global_id(0)] = data4;
}
