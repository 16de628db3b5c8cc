// Resizes an image of bytes by fixed-point weights.
#define INTER_BITS 11
#define SCALE (1 << INTER_BITS)
__kernel void bilinear_resize(__global const uchar* src, int src_step, int src_rows, int src_cols, __global uchar* dst,
                              int dst_step, int dst_rows, int dst_cols, float ifx, float ify)
{
    int dx = get_global_id(0), dy = get_global_id(1);
    if (dx < dst_cols && dy < dst_rows) {
        float sx = ((dx + 0.5f) * ifx - 0.5f), sy = ((dy + 0.5f) * ify - 0.5f);
        int x = floor(sx), y = floor(sy);
        float u = sx - x, v = sy - y;
        if (x < 0) { x = 0; u = 0; }
        if (x >= src_cols) { x = src_cols - 1; u = 0; }
        if (y < 0) { y = 0; v = 0; }
        if (y >= src_rows) { y = src_rows - 1; v = 0; }
        int y_ = min(y + 1, src_rows - 1), x_ = min(x + 1, src_cols - 1);
        int U = rint(u * SCALE), V = rint(v * SCALE);
        int U1 = rint(1.f * SCALE - u * SCALE), V1 = rint(1.f * SCALE - v * SCALE);
        int value = mul24(mul24(U1, V1), (int)src[y * src_step + x]) + mul24(mul24(U1, V), (int)src[y_ * src_step + x]) +
                    mul24(mul24(U, V1), (int)src[y * src_step + x_]) + mul24(mul24(U, V), (int)src[y_ * src_step + x_]);
        dst[dy * dst_step + dx] = convert_uchar_sat((value + (1 << (2 * INTER_BITS - 1))) >> (2 * INTER_BITS));
    }
}
