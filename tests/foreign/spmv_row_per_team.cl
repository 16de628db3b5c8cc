// Sparse matrix in compressed rows times a vector; eight work-items share a row and meet at barriers.
#define TEAM 8
__kernel void spmv_row_per_team(__global const float* val, __global const float* vec, __global const int* cols,
                                __global const int* begin, const int rows, __global float* out)
{
    __local float partial[64];
    const int lid = get_local_id(0);
    const int lane = lid & (TEAM - 1);
    const int row = get_group_id(0) * (get_local_size(0) / TEAM) + lid / TEAM;
    float sum = 0.0f;
    if (row < rows)
        for (int j = begin[row] + lane; j < begin[row + 1]; j += TEAM)
            sum += val[j] * vec[cols[j]];
    partial[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = TEAM / 2; step > 0; step >>= 1) {
        if (lane < step)
            partial[lid] += partial[lid + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && row < rows)
        out[row] = partial[lid];
}
