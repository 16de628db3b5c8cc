// Numbers of a low-discrepancy sequence, and their normal distribution by rational polynomials.
#define QRNG_DIMENSIONS 3
#define QRNG_RESOLUTION 31
#define INT_SCALE (1.0f / (float)0x80000001U)
float inverse_normal(uint x)
{
    float z;
    bool negate = false;
    if (x >= 0x80000000UL) {
        x = 0xffffffffUL - x;
        negate = true;
    }
    const float x1 = 1.0f / (float)0xffffffffUL, x2 = x1 / 2.0f;
    float p1 = x * x1 + x2, p2 = p1 - 0.5f;
    if (p1 > 0.02425f) {
        z = p2 * p2;
        z = p2 * (((2.506628f * -0.5f * z - 1.2f) * z + 2.3f) / ((z - 1.6f) * z + 1.0f));
    } else {
        z = sqrt(-2.0f * log(p1));
        z = (2.3f + z * 0.27f) / (1.0f + z * (0.99f + z * 0.04f)) - z;
    }
    return negate ? -z : z;
}
__kernel void quasi_random_numbers(__global float* d_Output, __constant uint* c_Table, const uint seed, const uint N)
{
    const uint lane = get_global_id(0), dim = get_global_id(1);
    for (uint pos = lane; pos < N; pos += get_global_size(0)) {
        uint result = 0;
        uint data = seed + pos;
        for (int bit = 0; bit < QRNG_RESOLUTION; bit++, data >>= 1)
            if (data & 1)
                result ^= c_Table[bit + dim * QRNG_RESOLUTION];
        d_Output[dim * N + pos] = inverse_normal(result) + (float)(result + 1) * INT_SCALE;
    }
}
