// LU decomposition of one block on the diagonal, in local memory, by as many work-items as it has columns.
#ifndef BLOCK
#define BLOCK 16
#endif

__kernel void lu_diagonal_block(__global float* m, __local float* shadow, int matrix_dim, int offset)
{
    int i, j;
    int tx = get_local_id(0);
    int array_offset = offset * matrix_dim + offset;

    for (i = 0; i < BLOCK; i++) {
        shadow[i * BLOCK + tx] = m[array_offset + tx];
        array_offset += matrix_dim;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (i = 0; i < BLOCK - 1; i++) {
        if (tx > i) {
            for (j = 0; j < i; j++)
                shadow[tx * BLOCK + i] -= shadow[tx * BLOCK + j] * shadow[j * BLOCK + i];
            shadow[tx * BLOCK + i] /= shadow[i * BLOCK + i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (tx > i) {
            for (j = 0; j < i + 1; j++)
                shadow[(i + 1) * BLOCK + tx] -= shadow[(i + 1) * BLOCK + j] * shadow[j * BLOCK + tx];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    array_offset = (offset + 1) * matrix_dim + offset;
    for (i = 1; i < BLOCK; i++) {
        m[array_offset + tx] = shadow[i * BLOCK + tx];
        array_offset += matrix_dim;
    }
}
