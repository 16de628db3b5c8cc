// 16-bit floats in memory, 32-bit floats in registers.
__kernel void half_scale_add(__global const half* a, __global const half* b, __global half* sum, __global float* wide,
                             float scale, int n)
{
    int i = get_global_id(0);
    if (4 * i + 3 >= n)
        return;
    float4 first = vload_half4(i, a);
    float4 second = (float4)(vload_half(4 * i, b), vload_half(4 * i + 1, b), vload_half(4 * i + 2, b), vload_half(4 * i + 3, b));
    float4 total = first * scale + second;
    vstore_half4(total, i, sum);
    vstore4(total, i, wide);
    vstore_half_rte(total.x, 4 * i, sum);
}
