// Cosine transform of blocks of 8 x 8 by a table of the program, rows first, then columns.
#define BLOCK 8
__constant float cosines[BLOCK][BLOCK] = {
    {0.353553f, 0.353553f, 0.353553f, 0.353553f, 0.353553f, 0.353553f, 0.353553f, 0.353553f},
    {0.490393f, 0.415735f, 0.277785f, 0.097545f, -0.097545f, -0.277785f, -0.415735f, -0.490393f},
    {0.461940f, 0.191342f, -0.191342f, -0.461940f, -0.461940f, -0.191342f, 0.191342f, 0.461940f},
    {0.415735f, -0.097545f, -0.490393f, -0.277785f, 0.277785f, 0.490393f, 0.097545f, -0.415735f},
    {0.353553f, -0.353553f, -0.353553f, 0.353553f, 0.353553f, -0.353553f, -0.353553f, 0.353553f},
    {0.277785f, -0.490393f, 0.097545f, 0.415735f, -0.415735f, -0.097545f, 0.490393f, -0.277785f},
    {0.191342f, -0.461940f, 0.461940f, -0.191342f, -0.191342f, 0.461940f, -0.461940f, 0.191342f},
    {0.097545f, -0.277785f, 0.415735f, -0.490393f, 0.490393f, -0.415735f, 0.277785f, -0.097545f}};

__kernel void dct_eight_by_eight(__global float* output, __global const float* input, const uint width, const uint inverse)
{
    __local float inter[BLOCK * BLOCK];
    uint x = get_global_id(0), y = get_global_id(1);
    uint i = get_local_id(0), j = get_local_id(1);
    uint base = (get_group_id(1) * BLOCK) * width + get_group_id(0) * BLOCK;
    float acc = 0.0f;
    for (uint k = 0; k < BLOCK; k++)
        acc += (inverse ? cosines[k][j] : cosines[j][k]) * input[base + k * width + i];
    inter[j * BLOCK + i] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    acc = 0.0f;
    for (uint k = 0; k < BLOCK; k++)
        acc += inter[j * BLOCK + k] * (inverse ? cosines[k][i] : cosines[i][k]);
    output[y * width + x] = acc;
}
