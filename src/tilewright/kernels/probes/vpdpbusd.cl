// One vpdpbusd of x86 in each work-item: it adds the products of four pairs of bytes to an int.

static inline int16 multiply_add(const uint16 a, const uint16 b, int16 c)
{
    __asm__("vpdpbusd %2, %1, %0" : "+vr"(c) : "vr"(a), "vr"(b));
    return c;
}

__kernel void trial(__global const uint16 *a, __global const uint16 *b, __global int16 *c)
{
    const int i = get_global_id(0);
    c[i] = multiply_add(a[i], b[i], c[i]);
}
