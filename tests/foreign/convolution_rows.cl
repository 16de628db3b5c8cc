// Rows of a separable convolution: several results a work-item, halos in local memory, coefficients in constant memory.
#define RADIUS 3
#define BLOCKDIM_X 8
#define BLOCKDIM_Y 4
#define RESULT_STEPS 2
#define HALO_STEPS 1
__kernel __attribute__((reqd_work_group_size(BLOCKDIM_X, BLOCKDIM_Y, 1)))
void convolution_rows(__global float* d_Dst, __global float* d_Src, __constant float* c_Kernel, int imageW, int imageH,
                      int pitch)
{
    __local float l_Data[BLOCKDIM_Y][(RESULT_STEPS + 2 * HALO_STEPS) * BLOCKDIM_X];
    const int baseX = (get_group_id(0) * RESULT_STEPS - HALO_STEPS) * BLOCKDIM_X + get_local_id(0);
    const int baseY = get_group_id(1) * BLOCKDIM_Y + get_local_id(1);
    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;
    for (int i = HALO_STEPS; i < HALO_STEPS + RESULT_STEPS; i++)
        l_Data[get_local_id(1)][get_local_id(0) + i * BLOCKDIM_X] = d_Src[i * BLOCKDIM_X];
    for (int i = 0; i < HALO_STEPS; i++)
        l_Data[get_local_id(1)][get_local_id(0) + i * BLOCKDIM_X] = (baseX + i * BLOCKDIM_X >= 0) ? d_Src[i * BLOCKDIM_X] : 0;
    for (int i = HALO_STEPS + RESULT_STEPS; i < HALO_STEPS + RESULT_STEPS + HALO_STEPS; i++)
        l_Data[get_local_id(1)][get_local_id(0) + i * BLOCKDIM_X] = (baseX + i * BLOCKDIM_X < imageW) ? d_Src[i * BLOCKDIM_X] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = HALO_STEPS; i < HALO_STEPS + RESULT_STEPS; i++) {
        float sum = 0;
        for (int j = -RADIUS; j <= RADIUS; j++)
            sum += c_Kernel[RADIUS - j] * l_Data[get_local_id(1)][get_local_id(0) + i * BLOCKDIM_X + j];
        d_Dst[i * BLOCKDIM_X] = sum;
    }
}
