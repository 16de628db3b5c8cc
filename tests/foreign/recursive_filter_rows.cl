// A recursive filter along the columns of a packed image, forwards and backwards.
float4 unpacked(uint word)
{
    return (float4)(word & 0xff, (word >> 8) & 0xff, (word >> 16) & 0xff, (word >> 24) & 0xff);
}
uint packed(float4 value)
{
    uint word = 0U;
    word |= 0x000000FF & ((uint)value.x);
    word |= 0x0000FF00 & (((uint)value.y) << 8);
    word |= 0x00FF0000 & (((uint)value.z) << 16);
    word |= 0xFF000000 & (((uint)value.w) << 24);
    return word;
}
__kernel void recursive_filter_rows(__global const uint* id, __global uint* od, __global uint* back, int w, int h, float a)
{
    unsigned int x = get_global_id(0);
    if (x >= w)
        return;
    id += x;
    od += x;
    back += x;
    float4 yp = unpacked(*id);
    for (int y = 0; y < h; y++) {
        float4 xc = unpacked(*id);
        float4 yc = xc + (yp - xc) * (float4)a;
        *od = packed(yc);
        yp = yc;
        id += w;
        od += w;
    }
    for (int y = h - 1; y >= 0; y--) {
        id -= w;
        yp = mix(unpacked(*id), yp, a);
        back[y * w] = packed(yp);
    }
}
