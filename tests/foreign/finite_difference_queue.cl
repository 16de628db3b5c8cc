// Finite differences of a volume: planes in local memory, a queue of values along z in registers.
#define RADIUS 2
#define WORK_X 8
#define WORK_Y 8
__kernel __attribute__((reqd_work_group_size(WORK_X, WORK_Y, 1)))
void finite_difference_queue(__global const float* restrict input, __global float* restrict output,
                             __constant float* coeff, const int dimx, const int dimy, const int dimz, const int padding)
{
    const int gtidx = get_global_id(0), gtidy = get_global_id(1);
    const int ltidx = get_local_id(0), ltidy = get_local_id(1);
    __local float tile[WORK_Y + 2 * RADIUS][WORK_X + 2 * RADIUS];
    const int stride_y = dimx + 2 * RADIUS;
    const int stride_z = stride_y * (dimy + 2 * RADIUS);
    int inputIndex = RADIUS * stride_y + RADIUS + padding + gtidy * stride_y + gtidx;
    int outputIndex = 0;
    float infront[RADIUS], behind[RADIUS], current;
    const int tx = ltidx + RADIUS, ty = ltidy + RADIUS;
    for (int i = RADIUS - 2; i >= 0; i--) {
        behind[i] = input[inputIndex];
        inputIndex += stride_z;
    }
    current = input[inputIndex];
    outputIndex = inputIndex;
    inputIndex += stride_z;
    for (int i = 0; i < RADIUS; i++) {
        infront[i] = input[inputIndex];
        inputIndex += stride_z;
    }
    behind[RADIUS - 1] = 0;
    for (int iz = 0; iz < dimz; iz++) {
        for (int i = RADIUS - 1; i > 0; i--)
            behind[i] = behind[i - 1];
        behind[0] = current;
        current = infront[0];
#pragma unroll
        for (int i = 0; i < RADIUS - 1; i++)
            infront[i] = infront[i + 1];
        infront[RADIUS - 1] = input[inputIndex];
        inputIndex += stride_z;
        outputIndex += stride_z;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (ltidy < RADIUS) {
            tile[ltidy][tx] = input[outputIndex - RADIUS * stride_y];
            tile[ltidy + WORK_Y + RADIUS][tx] = input[outputIndex + WORK_Y * stride_y];
        }
        if (ltidx < RADIUS) {
            tile[ty][ltidx] = input[outputIndex - RADIUS];
            tile[ty][ltidx + WORK_X + RADIUS] = input[outputIndex + WORK_X];
        }
        tile[ty][tx] = current;
        barrier(CLK_LOCAL_MEM_FENCE);
        float value = coeff[0] * current;
#pragma unroll RADIUS
        for (int i = 1; i <= RADIUS; i++)
            value += coeff[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        output[outputIndex] = value;
    }
}
