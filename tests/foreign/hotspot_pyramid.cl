// Heat on a chip: several time steps of a five-point stencil in local memory, with a halo that shrinks.
#define BLOCK_SIZE 16
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__kernel void hotspot_pyramid(int iteration, __global float* power, __global float* temp_src, __global float* temp_dst,
                              int grid_cols, int grid_rows, int border_cols, int border_rows, float Cap, float Rx,
                              float Ry, float Rz, float step)
{
    __local float temp_on_chip[BLOCK_SIZE][BLOCK_SIZE];
    __local float power_on_chip[BLOCK_SIZE][BLOCK_SIZE];
    __local float temp_t[BLOCK_SIZE][BLOCK_SIZE];
    float amb_temp = 80.0f;
    int bx = get_group_id(0), by = get_group_id(1), tx = get_local_id(0), ty = get_local_id(1);
    float step_div_Cap = step / Cap, Rx_1 = 1 / Rx, Ry_1 = 1 / Ry, Rz_1 = 1 / Rz;
    int small_block_rows = BLOCK_SIZE - iteration * 2, small_block_cols = BLOCK_SIZE - iteration * 2;
    int blkY = small_block_rows * by - border_rows, blkX = small_block_cols * bx - border_cols;
    int blkYmax = blkY + BLOCK_SIZE - 1, blkXmax = blkX + BLOCK_SIZE - 1;
    int yidx = blkY + ty, xidx = blkX + tx;
    int index = grid_cols * yidx + xidx;

    temp_t[ty][tx] = 0.0f;
    if (IN_RANGE(yidx, 0, grid_rows - 1) && IN_RANGE(xidx, 0, grid_cols - 1)) {
        temp_on_chip[ty][tx] = temp_src[index];
        power_on_chip[ty][tx] = power[index];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    int validYmin = (blkY < 0) ? -blkY : 0;
    int validYmax = (blkYmax > grid_rows - 1) ? BLOCK_SIZE - 1 - (blkYmax - grid_rows + 1) : BLOCK_SIZE - 1;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > grid_cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - grid_cols + 1) : BLOCK_SIZE - 1;
    int N = ty - 1 < validYmin ? validYmin : ty - 1, S = ty + 1 > validYmax ? validYmax : ty + 1;
    int W = tx - 1 < validXmin ? validXmin : tx - 1, E = tx + 1 > validXmax ? validXmax : tx + 1;

    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) &&
            IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax)) {
            computed = true;
            temp_t[ty][tx] = temp_on_chip[ty][tx] + step_div_Cap * (power_on_chip[ty][tx] +
                (temp_on_chip[S][tx] + temp_on_chip[N][tx] - 2.0f * temp_on_chip[ty][tx]) * Ry_1 +
                (temp_on_chip[ty][E] + temp_on_chip[ty][W] - 2.0f * temp_on_chip[ty][tx]) * Rx_1 +
                (amb_temp - temp_on_chip[ty][tx]) * Rz_1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == iteration - 1)
            break;
        if (computed)
            temp_on_chip[ty][tx] = temp_t[ty][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (computed)
        temp_dst[index] = temp_t[ty][tx];
}
