// FAULT: the last steps count on 32 work-items in lockstep: a data race since Volta and on CPUs.
__kernel void reduce_without_barriers(__global const int* input, __global int* output, __local volatile int* sdata)
{
    unsigned int tid = get_local_id(0);
    sdata[tid] = input[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tid < 32) {
        sdata[tid] += sdata[tid + 32];
        sdata[tid] += sdata[tid + 16];
        sdata[tid] += sdata[tid + 8];
        sdata[tid] += sdata[tid + 4];
        sdata[tid] += sdata[tid + 2];
        sdata[tid] += sdata[tid + 1];
    }
    if (tid == 0)
        output[get_group_id(0)] = sdata[0];
}
