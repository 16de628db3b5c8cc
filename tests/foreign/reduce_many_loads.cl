// Sum with many loads for each work-item and unrolled steps by macro.
#ifndef blockSize
#define blockSize 64
#endif
#define nIsPow2 0
#define STEP(width)                              \
    if (blockSize >= 2 * width) {                \
        if (tid < width)                         \
            sdata[tid] += sdata[tid + width];    \
        barrier(CLK_LOCAL_MEM_FENCE);            \
    }
__kernel void reduce_many_loads(__global const float* g_idata, __global float* g_odata, unsigned int n,
                                __local float* sdata)
{
    unsigned int tid = get_local_id(0);
    unsigned int i = get_group_id(0) * (blockSize * 2) + tid;
    unsigned int gridSize = blockSize * 2 * get_num_groups(0);
    sdata[tid] = 0;
    while (i < n) {
        sdata[tid] += g_idata[i];
        if (nIsPow2 || i + blockSize < n)
            sdata[tid] += g_idata[i + blockSize];
        i += gridSize;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    STEP(256) STEP(128) STEP(64) STEP(32) STEP(16) STEP(8) STEP(4) STEP(2) STEP(1)
    if (tid == 0)
        g_odata[get_group_id(0)] = sdata[0];
}
