// A hash with a message schedule: constants in program memory, bit fields by rotate, bitselect, byte order turned.
#define ROR(x, n) rotate((uint)(x), (uint)(32 - n))
#define S0(x) (ROR(x, 7) ^ ROR(x, 18) ^ ((x) >> 3))
#define S1(x) (ROR(x, 17) ^ ROR(x, 19) ^ ((x) >> 10))
__constant uint k_table[16] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u};

uint swapped(uint v) { return (as_uint(as_uchar4(v).wzyx)); }

__kernel void secure_hash_schedule(__global const uint4* message, __global uint8* digest)
{
    const int gid = get_global_id(0);
    uint w[32];
    for (int i = 0; i < 4; i++) {
        uint4 m = message[gid * 4 + i];
        w[4 * i] = swapped(m.x); w[4 * i + 1] = swapped(m.y); w[4 * i + 2] = swapped(m.z); w[4 * i + 3] = swapped(m.w);
    }
    for (int i = 16; i < 32; i++)
        w[i] = S1(w[i - 2]) + w[i - 7] + S0(w[i - 15]) + w[i - 16];
    uint8 s = (uint8)(0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u);
    for (int i = 0; i < 32; i++) {
        uint t1 = s.s7 + (ROR(s.s4, 6) ^ ROR(s.s4, 11) ^ ROR(s.s4, 25)) + bitselect(s.s6, s.s5, s.s4) + k_table[i & 15] + w[i];
        uint t2 = (ROR(s.s0, 2) ^ ROR(s.s0, 13) ^ ROR(s.s0, 22)) + bitselect(s.s0, s.s1, s.s2 ^ s.s0);
        s = (uint8)(t1 + t2, s.s012, s.s3 + t1, s.s456);
    }
    digest[gid] = s;
}
