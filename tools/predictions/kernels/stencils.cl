// Stencils and convolutions.

__kernel void five_points(__global const float* in, __global float* out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    int at = y * width + x;
    out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}

__kernel void seven_points(__global const float* in, __global float* out, int width, int height, int depth)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    int plane = width * height, at = y * width + x;
    float below = in[at], here = in[at + plane];
    for (int z = 1; z < depth - 1; z++) {
        at += plane;
        float above = in[at + plane];
        out[at] = 0.4f * here + 0.1f * (below + above + in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
        below = here;
        here = above;
    }
}

__kernel void convolution(__global const float* in, __global const float* weights, __global float* out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x + 6 >= width || y + 6 >= height)
        return;
    float sum = 0.0f;
    for (int dy = 0; dy < 7; dy++)
        for (int dx = 0; dx < 7; dx++)
            sum += weights[dy * 7 + dx] * in[(y + dy) * width + x + dx];
    out[y * width + x] = sum;
}

__kernel void convolution_local(__global const float* in, __global const float* weights, __global float* out, int width, int height)
{
    __local float tile[22][38];
    __local float own_weights[49];
    int lx = get_local_id(0), ly = get_local_id(1);
    int left = get_group_id(0) * 32, top = get_group_id(1) * 16;
    for (int y = ly; y < 22; y += 16)
        for (int x = lx; x < 38; x += 32)
            tile[y][x] = (top + y < height && left + x < width) ? in[(top + y) * width + left + x] : 0.0f;
    if (ly * 32 + lx < 49)
        own_weights[ly * 32 + lx] = weights[ly * 32 + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int dy = 0; dy < 7; dy++)
        for (int dx = 0; dx < 7; dx++)
            sum += own_weights[dy * 7 + dx] * tile[ly + dy][lx + dx];
    if (left + lx < width && top + ly < height)
        out[(top + ly) * width + left + lx] = sum;
}

__kernel void convolution_columns(__global const float* in, __global const float* weights, __global float* out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int dy = -8; dy <= 8; dy++) {
        int row = y + dy;
        if (row >= 0 && row < height)
            sum += weights[dy + 8] * in[row * width + x];
    }
    out[y * width + x] = sum;
}
