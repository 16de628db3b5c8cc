// Tiled product; the tiles are local memory that the host hands over.
#define TILE_A(row, col) tileA[(col) + (row) * SIDE]
#define TILE_B(row, col) tileB[(col) + (row) * SIDE]

__kernel void matmul_local_args(__global float* C, __global float* A, __global float* B, __local float* tileA,
                                __local float* tileB, int widthA, int widthB)
{
    int bx = get_group_id(0), by = get_group_id(1);
    int tx = get_local_id(0), ty = get_local_id(1);
    int firstA = widthA * SIDE * by;
    int lastA = firstA + widthA - 1;
    int stepA = SIDE;
    int firstB = SIDE * bx;
    int stepB = SIDE * widthB;
    float total = 0.0f;

    for (int a = firstA, b = firstB; a <= lastA; a += stepA, b += stepB) {
        TILE_A(ty, tx) = A[a + widthA * ty + tx];
        TILE_B(ty, tx) = B[b + widthB * ty + tx];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < SIDE; ++k)
            total += TILE_A(ty, k) * TILE_B(k, tx);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[get_global_id(1) * get_global_size(0) + get_global_id(0)] = total;
}
