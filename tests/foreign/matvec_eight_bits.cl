// Integer dot products of bytes with a scale a block; vectors of chars converted to int.
typedef struct { float d; char qs[16]; } block_q8;
__kernel void matvec_eight_bits(__global const block_q8* a, __global const block_q8* b, __global float* out, int blocks)
{
    const int row = get_global_id(0);
    float sum = 0.0f;
    for (int i = 0; i < blocks; i++) {
        __global const block_q8* x = &a[row * blocks + i];
        __global const block_q8* y = b + i;
        int4 total = (int4)(0);
        for (int k = 0; k < 4; k++)
            total += convert_int4(vload4(k, x->qs)) * convert_int4(vload4(k, y->qs));
        sum = fma(x->d * y->d, (float)(total.x + total.y + total.z + total.w), sum);
    }
    out[row] = sum;
}
