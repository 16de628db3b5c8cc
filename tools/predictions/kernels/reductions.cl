// Sums, prefix sums and histograms.

__kernel void sum_tree(__global const float* in, __global float* out, int n)
{
    __local float part[256];
    int item = get_local_id(0);
    float sum = 0.0f;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    part[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_of = 128; half_of > 0; half_of /= 2) {
        if (item < half_of)
            part[item] += part[item + half_of];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        out[get_group_id(0)] = part[0];
}

__kernel void sum_interleaved(__global const float* in, __global float* out)
{
    __local float part[256];
    int item = get_local_id(0);
    part[item] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < 256; step *= 2) {
        int at = 2 * step * item;
        if (at + step < 256)
            part[at] += part[at + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        out[get_group_id(0)] = part[0];
}

__kernel void scan_blocks(__global const float* in, __global float* out, __global float* totals)
{
    __local float data[512];
    int item = get_local_id(0), base = get_group_id(0) * 512;
    data[item] = in[base + item];
    data[item + 256] = in[base + item + 256];
    int offset = 1;
    for (int active = 256; active > 0; active /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < active) {
            int low = offset * (2 * item + 1) - 1, high = offset * (2 * item + 2) - 1;
            data[high] += data[low];
        }
        offset *= 2;
    }
    if (item == 0) {
        totals[get_group_id(0)] = data[511];
        data[511] = 0.0f;
    }
    for (int active = 1; active < 512; active *= 2) {
        offset /= 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < active) {
            int low = offset * (2 * item + 1) - 1, high = offset * (2 * item + 2) - 1;
            float kept = data[low];
            data[low] = data[high];
            data[high] += kept;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + item] = data[item];
    out[base + item + 256] = data[item + 256];
}

__kernel void histogram_local(__global const uint* in, __global int* bins, int n)
{
    __local int own[256];
    int item = get_local_id(0);
    own[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        uint word = in[i];
        atomic_inc(&own[word & 255]);
        atomic_inc(&own[(word >> 8) & 255]);
        atomic_inc(&own[(word >> 16) & 255]);
        atomic_inc(&own[word >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bins[get_group_id(0) * 256 + item] = own[item];
}

__kernel void histogram_global(__global const int* in, __global int* bins, int n)
{
    int i = get_global_id(0);
    if (i < n)
        atomic_inc(&bins[in[i]]);
}
