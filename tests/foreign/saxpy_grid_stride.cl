// y = alpha x + y; a fixed number of work-items walks over any length.
__kernel void saxpy_grid_stride(const int n, const float alpha, __global const float* restrict x, const int incx,
                                __global float* restrict y, const int incy)
{
    const int step = get_global_size(0);
    for (int i = get_global_id(0); i < n; i += step) {
        y[i * incy] = mad(alpha, x[i * incx], y[i * incy]);
    }
}
