// Each work-item computes a block of 4 x 4 elements with vectors of four.
__kernel void matmul_blocks_of_four(__global float4* matA, __global float4* matB, __global float4* matC, uint widthA,
                                    uint widthB)
{
    int2 pos = (int2)(get_global_id(0), get_global_id(1));
    float4 sum0 = (float4)(0), sum1 = (float4)(0), sum2 = (float4)(0), sum3 = (float4)(0);
    widthA /= 4;
    widthB /= 4;

    for (int i = 0; i < widthA; i++) {
        float4 a0 = matA[i + ((pos.y << 2) + 0) * widthA];
        float4 a1 = matA[i + ((pos.y << 2) + 1) * widthA];
        float4 a2 = matA[i + ((pos.y << 2) + 2) * widthA];
        float4 a3 = matA[i + ((pos.y << 2) + 3) * widthA];
        float4 b0 = matB[pos.x + ((i << 2) + 0) * widthB];
        float4 b1 = matB[pos.x + ((i << 2) + 1) * widthB];
        float4 b2 = matB[pos.x + ((i << 2) + 2) * widthB];
        float4 b3 = matB[pos.x + ((i << 2) + 3) * widthB];

        sum0 += a0.x * b0 + a0.y * b1 + a0.z * b2 + a0.w * b3;
        sum1 += a1.x * b0 + a1.y * b1 + a1.z * b2 + a1.w * b3;
        sum2.xy += a2.x * b0.xy + a2.y * b1.xy + a2.z * b2.xy + a2.w * b3.xy;
        sum2.zw += a2.x * b0.zw + a2.y * b1.zw + a2.z * b2.zw + a2.w * b3.zw;
        sum3.s01 += a3.s0 * b0.s01 + a3.s1 * b1.s01 + a3.s2 * b2.s01 + a3.s3 * b3.s01;
        sum3.hi += a3.s0 * b0.hi + a3.s1 * b1.hi + a3.s2 * b2.hi + a3.s3 * b3.hi;
    }
    matC[pos.x + ((pos.y << 2) + 0) * widthB] = sum0;
    matC[pos.x + ((pos.y << 2) + 1) * widthB] = sum1;
    matC[pos.x + ((pos.y << 2) + 2) * widthB] = sum2;
    matC[pos.x + ((pos.y << 2) + 3) * widthB] = sum3;
}
