// Rounds with tables of bytes in constant and in local memory.
typedef unsigned char u8;
__constant u8 galois[4][4] = {{2, 3, 1, 1}, {1, 2, 3, 1}, {1, 1, 2, 3}, {3, 1, 1, 2}};
inline u8 doubled(u8 a) { return (a << 1) ^ ((a & 0x80) ? 0x1b : 0); }
inline u8 times(u8 a, u8 b) { return b == 1 ? a : b == 2 ? doubled(a) : (u8)(doubled(a) ^ a); }
__kernel void substitution_table(__global const uchar4* input, __global uchar4* output, __constant uchar* sbox,
                                 __global const uchar4* keys, uint rounds)
{
    __local u8 table[256];
    for (int i = get_local_id(0); i < 256; i += get_local_size(0))
        table[i] = sbox[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uchar4 state = input[get_global_id(0)];
    for (uint r = 0; r < rounds; r++) {
        state ^= keys[r];
        u8 in[4] = {table[state.x], table[state.y], table[state.z], table[state.w]}, out[4];
        for (int i = 0; i < 4; i++) {
            out[i] = 0;
            for (int j = 0; j < 4; j++)
                out[i] ^= times(in[j], galois[i][j]);
        }
        state = (uchar4)(out[0], out[1], out[2], out[3]);
    }
    output[get_global_id(0)] = state;
}
