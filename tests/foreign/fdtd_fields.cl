// Electromagnetic fields on a grid: one of the three steps.
__kernel void fdtd_fields(__global float* ex, __global float* ey, __global float* hz, int nx, int ny)
{
    int j = get_global_id(0);
    int i = get_global_id(1);
    if ((i < nx - 1) && (j < ny - 1)) {
        hz[i * ny + j] = hz[i * ny + j] - 0.7f * (ex[i * (ny + 1) + (j + 1)] - ex[i * (ny + 1) + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
    }
}
