// Transforms of 64 points by 8 work-items: eight values each in registers, exchanged through local memory.
#define cmplx_mul(a, b) ((float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x))
#define exp_i(phi) ((float2)(native_cos(phi), native_sin(phi)))
#define FFT2(a0, a1) { float2 c0 = a0; a0 = c0 + a1; a1 = c0 - a1; }
#define FFT4(a0, a1, a2, a3)                       \
    {                                              \
        FFT2(a0, a2) FFT2(a1, a3)                  \
        a3 = (float2)(a3.y, -a3.x);                \
        FFT2(a0, a1) FFT2(a2, a3)                  \
    }
#define FFT8(a)                                                                  \
    {                                                                            \
        FFT2(a[0], a[4]) FFT2(a[1], a[5]) FFT2(a[2], a[6]) FFT2(a[3], a[7])      \
        a[5] = (float2)(a[5].x + a[5].y, a[5].y - a[5].x) * M_SQRT1_2_F;         \
        a[6] = (float2)(a[6].y, -a[6].x);                                        \
        a[7] = (float2)(a[7].y - a[7].x, -a[7].x - a[7].y) * M_SQRT1_2_F;        \
        FFT4(a[0], a[1], a[2], a[3]) FFT4(a[4], a[5], a[6], a[7])                \
    }
__constant int reversed[8] = {0, 4, 2, 6, 1, 5, 3, 7};

__kernel void fourier_eight_points(__global float2* work)
{
    __local float smem[8 * 9];
    int tid = get_local_id(0);
    float2 data[8];
    __global float2* own = work + get_group_id(0) * 64 + tid;
    for (int i = 0; i < 8; i++)
        data[i] = own[i * 8];
    FFT8(data)
    for (int j = 1; j < 8; j++)
        data[j] = cmplx_mul(data[j], exp_i(-2.0f * M_PI_F * (float)reversed[j] / 64.0f * (float)tid));
    for (int i = 0; i < 8; i++) smem[reversed[i] * 9 + tid] = data[i].x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 8; i++) data[i].x = smem[tid * 9 + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 8; i++) smem[reversed[i] * 9 + tid] = data[i].y;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 8; i++) data[i].y = smem[tid * 9 + i];
    FFT8(data)
    for (int i = 0; i < 8; i++)
        own[reversed[i] * 8] = data[i];
}
