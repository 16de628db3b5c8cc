// The median of 3 x 3 pixels by a network of minima and maxima.
#define SORT2(a, b) { float t = fmin(a, b); b = fmax(a, b); a = t; }
__kernel void median_of_nine(__global const float* src, __global float* dst, int width, int height)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float p[9];
    for (int dy = -1, n = 0; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++, n++)
            p[n] = src[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
    SORT2(p[1], p[2]) SORT2(p[4], p[5]) SORT2(p[7], p[8]) SORT2(p[0], p[1]) SORT2(p[3], p[4]) SORT2(p[6], p[7])
    SORT2(p[1], p[2]) SORT2(p[4], p[5]) SORT2(p[7], p[8]) SORT2(p[0], p[3]) SORT2(p[5], p[8]) SORT2(p[4], p[7])
    SORT2(p[3], p[6]) SORT2(p[1], p[4]) SORT2(p[2], p[5]) SORT2(p[4], p[7]) SORT2(p[4], p[2]) SORT2(p[6], p[4])
    SORT2(p[4], p[2])
    dst[mad24(y, width, x)] = p[4];
}
