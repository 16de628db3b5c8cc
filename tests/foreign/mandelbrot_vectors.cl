// Four pixels of the Mandelbrot set a work-item; comparisons of vectors and select.
__kernel void mandelbrot_vectors(__global int4* counts, const float x0, const float y0, const float scale,
                                 const uint maxIterations, const int width)
{
    int tid = get_global_id(0);
    int i = tid % (width / 4), j = tid / (width / 4);
    int4 xs = (int4)(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
    float4 cx = x0 + convert_float4(xs) * scale;
    float4 cy = (float4)(y0 + j * scale);
    float4 zx = cx, zy = cy;
    int4 count = (int4)(0);
    for (uint iteration = 0; iteration < maxIterations; iteration++) {
        float4 xx = zx * zx, yy = zy * zy;
        int4 inside = isless(xx + yy, (float4)(4.0f));
        if (!any(inside))
            break;
        float4 newy = 2.0f * zx * zy + cy;
        zx = select(zx, xx - yy + cx, inside);
        zy = select(zy, newy, inside);
        count -= inside;
    }
    counts[tid] = count;
}
