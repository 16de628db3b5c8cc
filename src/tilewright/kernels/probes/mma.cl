// mma.sync: a warp's product in f16, bf16, tf32 and s8; A[row][k] = row + 1, B[k][column] = column + 1.
#include "check.cl"

#define MMA(shape, types, sum, a, b)                                                                                \
    asm volatile("mma.sync.aligned." shape ".row.col." types                                                        \
                 " {%0, %1, %2, %3}, {%4, %5, %4, %5}, {%6, %6}, {%0, %1, %2, %3};"                                 \
                 : "+f"(sum.x), "+f"(sum.y), "+f"(sum.z), "+f"(sum.w)                                               \
                 : "r"(a.x), "r"(a.y), "r"(b))

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    const int lane = get_local_id(0), row = lane / 4, column = lane % 4 * 2;
    const float upper = row + 1, lower = row + 9;  // rows of A; B's column in the same item is row + 1, too

    float4 sum = 0;
    MMA("m16n8k16", "f32.f16.f16.f32", sum, ((uint2)(two_halves(upper), two_halves(lower))), two_halves(upper));
    int right = is_outer_product(sum, 16, row, column);

    sum = 0;
    const uint2 brief = (uint2)(as_uint(upper) >> 16, as_uint(lower) >> 16) * 0x10001u;
    MMA("m16n8k16", "f32.bf16.bf16.f32", sum, brief, brief.x);
    right &= is_outer_product(sum, 16, row, column);

    sum = 0;
    MMA("m16n8k8", "f32.tf32.tf32.f32", sum, ((uint2)(as_uint(upper), as_uint(lower))), as_uint(upper));
    right &= is_outer_product(sum, 8, row, column);

    int4 total = 0;
    const uint2 bytes = (uint2)(row + 1, row + 9) * 0x01010101u;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %4, %5}, {%4, %4}, {%0, %1, %2, %3};"
                 : "+r"(total.x), "+r"(total.y), "+r"(total.z), "+r"(total.w)
                 : "r"(bytes.x), "r"(bytes.y));
    right &= is_outer_product(convert_float4(total), 32, row, column);
    check(answer, right);
}
