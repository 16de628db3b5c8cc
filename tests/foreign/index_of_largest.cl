// The place of the largest magnitude; the first of equal ones.
__kernel void index_of_largest(const int n, __global const float* x, __global float* maxgm, __global uint* imaxgm)
{
    __local float maxlm[64];
    __local uint imaxlm[64];
    const int lid = get_local_id(0);
    float best = -1.0f;
    uint where = 0;
    for (int i = lid; i < n; i += get_local_size(0)) {
        float value = fabs(x[i]);
        if (value > best) {
            best = value;
            where = i;
        }
    }
    maxlm[lid] = best;
    imaxlm[lid] = where;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (lid < s) {
            if (maxlm[lid + s] > maxlm[lid] || (maxlm[lid + s] == maxlm[lid] && imaxlm[lid + s] < imaxlm[lid])) {
                maxlm[lid] = maxlm[lid + s];
                imaxlm[lid] = imaxlm[lid + s];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) {
        maxgm[0] = maxlm[0];
        imaxgm[0] = imaxlm[0];
    }
}
