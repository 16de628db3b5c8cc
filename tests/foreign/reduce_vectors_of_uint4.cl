// Sum of vectors of four, the group's result written as one vector.
__kernel void reduce_vectors_of_uint4(__global uint4* input, __global uint4* output, __local uint4* sdata)
{
    unsigned int tid = get_local_id(0);
    unsigned int bid = get_group_id(0);
    unsigned int localSize = get_local_size(0);
    unsigned int stride = get_global_id(0) * 2;
    sdata[tid] = input[stride] + input[stride + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (unsigned int s = localSize >> 1; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (tid == 0)
        output[bid] = sdata[0];
}
