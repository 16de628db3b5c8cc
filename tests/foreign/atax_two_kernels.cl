// y = transpose(A) (A x), as two kernels in one file.
typedef float DATA;

__kernel void atax_rows(__global DATA* A, __global DATA* x, __global DATA* tmp, int nx, int ny)
{
    int i = get_global_id(0);
    if (i < nx) {
        DATA sum = 0;
        for (int j = 0; j < ny; j++)
            sum += A[i * ny + j] * x[j];
        tmp[i] = sum;
    }
}

__kernel void atax_columns(__global DATA* A, __global DATA* y, __global DATA* tmp, int nx, int ny)
{
    int j = get_global_id(0);
    if (j < ny) {
        y[j] = 0;
        for (int i = 0; i < nx; i++)
            y[j] += A[i * ny + j] * tmp[i];
    }
}
