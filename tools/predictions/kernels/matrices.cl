// Dense and sparse linear algebra.

__kernel void rows_times_vector(__global const float* A, __global const float* x, __global float* y, int columns)
{
    int row = get_global_id(0);
    float sum = 0.0f;
    for (int column = 0; column < columns; column++)
        sum += A[row * columns + column] * x[column];
    y[row] = sum;
}

__kernel void columns_times_vector(__global const float* A, __global const float* x, __global float* y, int rows, int columns)
{
    int column = get_global_id(0);
    float sum = 0.0f;
    for (int row = 0; row < rows; row++)
        sum += A[row * columns + column] * x[row];
    y[column] = sum;
}

__kernel void group_times_vector(__global const float* A, __global const float* x, __global float* y, int columns)
{
    __local float part[128];
    int item = get_local_id(0), row = get_group_id(0);
    float sum = 0.0f;
    for (int column = item; column < columns; column += 128)
        sum += A[row * columns + column] * x[column];
    part[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_of = 64; half_of > 0; half_of /= 2) {
        if (item < half_of)
            part[item] += part[item + half_of];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        y[row] = part[0];
}

__kernel void product(__global const float* A, __global const float* B, __global float* C, int n, int depth)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < depth; k++)
        sum += A[row * depth + k] * B[k * n + column];
    C[row * n + column] = sum;
}

__kernel void rank_k_update(__global const float* A, __global float* C, int n, int depth)
{
    __local float left[16][17], right[16][17];
    int lx = get_local_id(0), ly = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int first = 0; first < depth; first += 16) {
        left[ly][lx] = A[row * depth + first + lx];
        right[ly][lx] = A[(get_group_id(0) * 16 + ly) * depth + first + lx];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            sum += left[ly][k] * right[lx][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[row * n + column] += sum;
}

__kernel void sparse_rows(__global const int* begins, __global const int* columns, __global const float* values,
                          __global const float* x, __global float* y, int rows)
{
    int row = get_global_id(0);
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int at = begins[row]; at < begins[row + 1]; at++)
        sum += values[at] * x[columns[at]];
    y[row] = sum;
}

__kernel void sparse_rows_by_warps(__global const int* begins, __global const int* columns, __global const float* values,
                                   __global const float* x, __global float* y, int rows)
{
    __local float part[128];
    int item = get_local_id(0), lane = item & 31;
    int row = get_global_id(0) / 32;
    float sum = 0.0f;
    if (row < rows) {
        int end = begins[row + 1];
        for (int at = begins[row] + lane; at < end; at += 32)
            sum += values[at] * x[columns[at]];
    }
    part[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_of = 16; half_of > 0; half_of /= 2) {
        if (lane < half_of)
            part[item] += part[item + half_of];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && row < rows)
        y[row] = part[item];
}

__kernel void sparse_ell(__global const int* columns, __global const float* values, __global const float* x,
                         __global float* y, int rows, int width)
{
    int row = get_global_id(0);
    float sum = 0.0f;
    for (int at = 0; at < width; at++)
        sum += values[at * rows + row] * x[columns[at * rows + row]];
    y[row] = sum;
}
