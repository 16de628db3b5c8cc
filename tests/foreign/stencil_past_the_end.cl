// FAULT: the last rows read beyond the grid.
__kernel void stencil_past_the_end(__global const float* in, __global float* out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height)
        out[y * width + x] = 0.5f * in[y * width + x] + 0.5f * in[(y + 1) * width + x];
}
