// s = transpose(A) r: every work-item walks down one column.
__kernel void bicg_direction(__global float* A, __global float* r, __global float* s, int nx, int ny)
{
    int j = get_global_id(0);
    if (j >= ny)
        return;
    s[j] = 0.0f;
    int i;
    for (i = 0; i < nx; i++) {
        s[j] += A[i * ny + j] * r[i];
    }
}
