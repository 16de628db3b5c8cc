// A tiled product of two matrices of SIZE x SIZE: what shows in a child process that a driver compiles and runs.

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void smoke_gemm(__global const float *A, __global const float *B, __global float *C)
{
    __local float tileA[TILE][TILE], tileB[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int row = get_global_id(1), column = get_global_id(0);
    float sum = 0.0f;
    for (int start = 0; start < SIZE; start += TILE) {
        tileA[y][x] = A[row * SIZE + start + x];
        tileB[y][x] = B[(start + y) * SIZE + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; ++k)
            sum += tileA[y][k] * tileB[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[row * SIZE + column] = sum;
}
