// Rows divided by their root mean square, vectors of four.
kernel void rms_norm_rows(global float* src, ulong offset, global float* dst, int ne00, ulong nb01, float eps, local float* sum)
{
    src = (global float*)((global char*)src + offset);
    global float4* x = (global float4*)((global char*)src + get_group_id(0) * nb01);
    global float4* y = (global float4*)((global char*)dst + get_group_id(0) * nb01);
    float4 sumf = 0;
    for (int i00 = get_local_id(0); i00 < ne00 / 4; i00 += get_local_size(0))
        sumf += x[i00] * x[i00];
    sum[get_local_id(0)] = sumf.s0 + sumf.s1 + sumf.s2 + sumf.s3;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_size(0) / 2; i > 0; i /= 2) {
        if (get_local_id(0) < i)
            sum[get_local_id(0)] += sum[get_local_id(0) + i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float scale = 1.0f / sqrt(sum[0] / ne00 + eps);
    for (int i00 = get_local_id(0); i00 < ne00 / 4; i00 += get_local_size(0))
        y[i00] = x[i00] * scale;
}
