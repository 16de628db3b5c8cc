// Partial dot products, one of each work-group; a second kernel adds them.
#define GROUP 64
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void dot_partial(const int n, const __global float* restrict x, const __global float* restrict y, __global float* output)
{
    __local float lm[GROUP];
    const int lid = get_local_id(0), wgid = get_group_id(0), groups = get_num_groups(0);
    float acc = 0.0f;
    int id = wgid * GROUP + lid;
    while (id < n) {
        acc += x[id] * y[id];
        id += GROUP * groups;
    }
    lm[lid] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = GROUP / 2; s > 0; s = s >> 1) {
        if (lid < s)
            lm[lid] += lm[lid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        output[wgid] = lm[0];
}

__kernel void dot_final(const __global float* restrict input, const int count, __global float* dot)
{
    float acc = 0.0f;
    for (int i = 0; i < count; i++)
        acc += input[i];
    dot[0] = acc;
}
