// Sum by halving, with neighbours apart and a remainder operator, one result a group.
#define T int
__kernel void reduce_interleaved(__global T* g_idata, __global T* g_odata, unsigned int n, __local T* sdata)
{
    unsigned int tid = get_local_id(0);
    unsigned int i = get_global_id(0);
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (unsigned int s = 1; s < get_local_size(0); s *= 2) {
        if ((tid % (2 * s)) == 0) {
            sdata[tid] += sdata[tid + s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (tid == 0)
        g_odata[get_group_id(0)] = sdata[0];
}
