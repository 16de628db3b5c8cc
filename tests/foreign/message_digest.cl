// Rounds in the manner of a message digest: rotations, four functions, words by macro.
typedef uint u32;
#define F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define G(x, y, z) ((y) ^ ((z) & ((x) ^ (y))))
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))
#define STEP(f, a, b, c, d, x, K, s)   \
    {                                  \
        a += K;                        \
        a += x;                        \
        a += f(b, c, d);               \
        a = rotate(a, (u32)s);         \
        a += b;                        \
    }
#define ROUND(f, i, K, s0, s1, s2, s3)                       \
    {                                                        \
    STEP(f, a, b, c, d, w[(i) & 15], K + 0u, s0)             \
    STEP(f, d, a, b, c, w[(5 * i + 1) & 15], K + 77u, s1)    \
    STEP(f, c, d, a, b, w[(3 * i + 5) & 15], K + 1234u, s2)  \
    STEP(f, b, c, d, a, w[(7 * i) & 15], K + 99991u, s3)     \
    }

__kernel void message_digest(__global const u32* words, __global uint4* digests, const u32 salt, const uint count)
{
    const uint gid = get_global_id(0);
    if (gid >= count) return;
    u32 w[16];
    for (int i = 0; i < 16; i++)
        w[i] = words[gid * 16 + i] ^ (i == 14 ? salt : 0);
    u32 a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
    for (int i = 0; i < 4; i++) ROUND(F, i, 0xd76aa478u, 7, 12, 17, 22)
    for (int i = 0; i < 4; i++) ROUND(G, i, 0xf61e2562u, 5, 9, 14, 20)
    for (int i = 0; i < 4; i++) ROUND(H, i, 0xfffa3942u, 4, 11, 16, 23)
    for (int i = 0; i < 4; i++) ROUND(I, i, 0xf4292244u, 6, 10, 15, 21)
    digests[gid] = (uint4)(a, b, c, d) + (uint4)(0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u);
}
