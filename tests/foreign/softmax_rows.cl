// Softmax of each row with a mask and a slope, by halving in local memory.
__kernel void softmax_rows(__global char* src0, ulong offset0, __global char* src1, __global float* dst, int ne00, float scale,
                           __local float* buf)
{
    src0 = src0 + offset0;
    const int row = get_group_id(0), tid = get_local_id(0), n = get_local_size(0);
    __global const float* x = (__global const float*)src0 + row * ne00;
    __global const float* mask = src1 != 0 ? (__global const float*)src1 + row * ne00 : 0;
    __global float* y = dst + row * ne00;
    float largest = -INFINITY;
    for (int i = tid; i < ne00; i += n)
        largest = fmax(largest, x[i] * scale + (mask ? mask[i] : 0.0f));
    buf[tid] = largest;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = n / 2; s > 0; s /= 2) {
        if (tid < s)
            buf[tid] = max(buf[tid], buf[tid + s]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    largest = buf[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int i = tid; i < ne00; i += n) {
        const float e = exp((x[i] * scale + (mask ? mask[i] : 0.0f)) - largest);
        sum += e;
        y[i] = e;
    }
    buf[tid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = n / 2; s > 0; s /= 2) {
        if (tid < s)
            buf[tid] += buf[tid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = tid; i < ne00; i += n)
        y[i] /= buf[0];
}
