// FAULT: a barrier inside a condition that holds for a part of the group only.
__kernel void row_sums_divergent(__global const float* in, __global float* out, int n)
{
    __local float part[32];
    int lid = get_local_id(0), gid = get_global_id(0);
    if (gid < n) {
        part[lid] = in[gid];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid == 0) {
            float sum = 0;
            for (int i = 0; i < 32 && gid + i < n; i++)
                sum += part[i];
            out[get_group_id(0)] = sum;
        }
    }
}
