// Exclusive scan up and down a tree, with padding against bank conflicts.
#define LOG_BANKS 5
#define PADDED(i) ((i) + ((i) >> LOG_BANKS))
__kernel void scan_tree(__global const float* in, __global float* out, __global float* sums, __local float* temp)
{
    const int n = 2 * get_local_size(0);
    const int thid = get_local_id(0);
    const int base = get_group_id(0) * n;
    int offset = 1;
    temp[PADDED(thid)] = in[base + thid];
    temp[PADDED(thid + n / 2)] = in[base + thid + n / 2];
    for (int d = n >> 1; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thid < d) {
            int ai = PADDED(offset * (2 * thid + 1) - 1), bi = PADDED(offset * (2 * thid + 2) - 1);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (thid == 0) {
        sums[get_group_id(0)] = temp[PADDED(n - 1)];
        temp[PADDED(n - 1)] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thid < d) {
            int ai = PADDED(offset * (2 * thid + 1) - 1), bi = PADDED(offset * (2 * thid + 2) - 1);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + thid] = temp[PADDED(thid)];
    out[base + thid + n / 2] = temp[PADDED(thid + n / 2)];
}
