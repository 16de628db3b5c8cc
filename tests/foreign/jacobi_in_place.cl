// FAULT: a stencil that writes into the grid that other work-groups still read.
__kernel void jacobi_in_place(__global float* grid, int width)
{
    int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
    float sum = grid[y * width + x - 1] + grid[y * width + x + 1] + grid[(y - 1) * width + x] + grid[(y + 1) * width + x];
    grid[y * width + x] = 0.25f * sum;
}
