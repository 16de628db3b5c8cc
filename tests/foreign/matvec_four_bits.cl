// Matrix times vector, weights of four bits in blocks of 32 with one scale.
#define QK 32
typedef uchar uint8_t;
struct block_q4 { half d; uint8_t qs[QK / 2]; };

inline float block_dot(global const struct block_q4* qb, global const float* yl)
{
    float d = vload_half(0, &qb->d);
    float2 acc = 0.f;
    for (int i = 0; i < QK / 2; i++) {
        acc.s0 += yl[i] * ((qb->qs[i] & 0x0F) - 8);
        acc.s1 += yl[i + QK / 2] * ((qb->qs[i] >> 4) - 8);
    }
    return d * (acc.s0 + acc.s1);
}

kernel void matvec_four_bits(global void* src0, ulong offset0, global float* src1, global float* dst, int ne00, int ne01)
{
    local float partial[16];
    const int nb = ne00 / QK, row = get_group_id(0), lane = get_local_id(0);
    global const struct block_q4* x = (global const struct block_q4*)((global char*)src0 + offset0) + row * nb;
    float sumf = 0.0f;
    for (int ib = lane; ib < nb; ib += get_local_size(0))
        sumf += block_dot(x + ib, src1 + ib * QK);
    partial[lane] = sumf;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        float all = 0;
        for (int i = 0; i < get_local_size(0); i++)
            all += partial[i];
        dst[row] = all;
    }
}
