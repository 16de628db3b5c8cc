// Counter-based random numbers: wide products, integer results and floats in [0, 1).
typedef struct r123array4x32 { uint v[4]; } ctr_t;
typedef struct r123array2x32 { uint v[2]; } counter_key_t;
static inline ctr_t philox_round(ctr_t ctr, counter_key_t key)
{
    uint hi0 = mul_hi(0xD2511F53u, ctr.v[0]), lo0 = 0xD2511F53u * ctr.v[0];
    uint hi1 = mul_hi(0xCD9E8D57u, ctr.v[2]), lo1 = 0xCD9E8D57u * ctr.v[2];
    ctr_t out = {{hi1 ^ ctr.v[1] ^ key.v[0], lo1, hi0 ^ ctr.v[3] ^ key.v[1], lo0}};
    return out;
}
__kernel void philox_numbers(__global uint4* words, __global float4* numbers, uint seed)
{
    ctr_t c = {{get_global_id(0), 0, 0, 0}};
    counter_key_t k = {{seed, 0xdecafbad}};
    for (int i = 0; i < 10; i++) {
        c = philox_round(c, k);
        k.v[0] += 0x9E3779B9u;
        k.v[1] += 0xBB67AE85u;
    }
    uint4 all = (uint4)(c.v[0], c.v[1], c.v[2], c.v[3]);
    words[get_global_id(0)] = all;
    numbers[get_global_id(0)] = convert_float4(all >> 8) * 0x1p-24f;
}
