// Kernels that move data with little arithmetic.

__kernel void triad(__global const float* a, __global const float* b, __global float* c, float factor, int n)
{
    int i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + factor * b[i];
}

__kernel void strided_copy(__global const float* in, __global float* out, int n, int stride)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = in[i * stride];
}

__kernel void gather(__global const float* in, __global const int* where, __global float* out, int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = in[where[i]];
}

__kernel void daxpy(__global const double* x, __global double* y, double a, int n)
{
    int stride = get_global_size(0);
    for (int i = get_global_id(0); i < n; i += stride)
        y[i] += a * x[i];
}

__kernel void planes_of_records(__global const float* records, __global float* x, __global float* y, __global float* z, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    x[i] = records[3 * i];
    y[i] = records[3 * i + 1];
    z[i] = records[3 * i + 2];
}

__kernel void random_walks(__global uint* states, __global float* sums, int steps)
{
    int i = get_global_id(0);
    uint state = states[i];
    float sum = 0.0f;
    for (int step = 0; step < steps; step++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        sum += (float)(state & 0xffff) * (1.0f / 65536.0f);
    }
    states[i] = state;
    sums[i] = sum;
}
