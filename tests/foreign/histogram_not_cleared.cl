// FAULT: counters in local memory that nobody set to zero.
__kernel void histogram_not_cleared(__global const uchar* data, __global uint* result)
{
    __local uint counters[64];
    int lid = get_local_id(0);
    atomic_inc(&counters[data[get_global_id(0)] & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    result[get_group_id(0) * 64 + lid] = counters[lid];
}
