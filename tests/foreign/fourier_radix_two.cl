// One pass of a Fourier transform; twiddle factors by sine and cosine.
#define TWIDDLE(k, n) ((float2)(cos(-6.28318530718f * (k) / (n)), sin(-6.28318530718f * (k) / (n))))
float2 product(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__kernel void fourier_radix_two(__global const float2* src, __global float2* dst, const int p)
{
    const int gid = get_global_id(0), n = get_global_size(0);
    const int k = gid & (p - 1);
    float2 a = src[gid], b = product(src[gid + n], TWIDDLE(k, 2 * p));
    const int j = ((gid - k) << 1) + k;
    dst[j] = a + b;
    dst[j + p] = a - b;
}
