// Cheapest way down a grid: some rows at a time in local memory.
#define GROUP 32
__kernel void shortest_path_rows(int iteration, __global int* gpuWall, __global int* gpuSrc, __global int* gpuResults,
                                 int cols, int startStep, int border)
{
    __local int prev[GROUP];
    __local int result[GROUP];
    int bx = get_group_id(0), tx = get_local_id(0);
    int small = GROUP - iteration * 2;
    int blkX = small * bx - border;
    int xidx = blkX + tx;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkX + GROUP - 1 > cols - 1) ? GROUP - 1 - (blkX + GROUP - 1 - cols + 1) : GROUP - 1;
    int W = max(tx - 1, validXmin), E = min(tx + 1, validXmax);
    bool isValid = tx >= validXmin && tx <= validXmax;
    if (xidx >= 0 && xidx < cols)
        prev[tx] = gpuSrc[xidx];
    barrier(CLK_LOCAL_MEM_FENCE);
    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= GROUP - i - 2 && isValid) {
            computed = true;
            int shortest = min(min(prev[W], prev[tx]), prev[E]);
            result[tx] = shortest + gpuWall[cols * (startStep + i) + xidx];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == iteration - 1)
            break;
        if (computed)
            prev[tx] = result[tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (computed)
        gpuResults[xidx] = result[tx];
}
