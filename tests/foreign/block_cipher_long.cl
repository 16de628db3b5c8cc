// A cipher of sums and rotations on 64-bit words, with wide products.
#define ROTL64(x, n) rotate((x), (ulong)(n))
__kernel void block_cipher_long(__global ulong2* data, const ulong key0, const ulong key1, int rounds)
{
    ulong2 v = data[get_global_id(0)];
    ulong k[3] = {key0, key1, key0 ^ key1 ^ 0x1bd11bdaa9fc1a22UL};
    for (int r = 0; r < rounds; r++) {
        v.x += v.y + k[r % 3];
        v.y = ROTL64(v.y, 14 + 3 * (r & 7)) ^ v.x;
        v.y += mul_hi(v.x, 0x9e3779b97f4a7c15UL) + (ulong)r;
        v = r & 1 ? v.yx : v;
    }
    data[get_global_id(0)] = v;
}
