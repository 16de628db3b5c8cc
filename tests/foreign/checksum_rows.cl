// A cyclic redundancy check of each row, bit by bit, and of bytes by popcount and clz.
__kernel void checksum_rows(__global const uchar* rows, __global uint* checks, __global ushort* bits, int length)
{
    int row = get_global_id(0);
    uint crc = ~0u;
    ushort ones = 0;
    for (int i = 0; i < length; i++) {
        uchar byte = rows[row * length + i];
        crc ^= byte;
        ones += popcount(byte) + (byte ? clz(byte) : 8);
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
    }
    checks[row] = ~crc;
    bits[row] = abs_diff(ones, (ushort)100) + hadd(ones, (ushort)3);
}
