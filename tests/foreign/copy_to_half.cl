// Strided copy of four dimensions from 32 to 16 bits, strides in bytes.
kernel void copy_to_half(global float* src0, global half* dst, int ne00, int ne01, ulong nb00, ulong nb01, ulong nb02, ulong nb1)
{
    int i02 = get_group_id(1), i01 = get_group_id(0);
    for (int i00 = get_local_id(0); i00 < ne00; i00 += get_local_size(0)) {
        global const float* src = (global const float*)((global char*)src0 + i02 * nb02 + i01 * nb01 + i00 * nb00);
        vstore_half(src[0], (i02 * ne01 + i01) * (nb1 / 2) + i00, dst);
    }
}
