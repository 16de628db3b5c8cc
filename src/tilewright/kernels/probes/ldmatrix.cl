// ldmatrix: four 8 x 8 matrices of 16-bit elements from local memory into the registers that mma.sync reads.
#include "check.cl"

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    __local ushort elements[256] __attribute__((aligned(128)));
    const uint lane = get_local_id(0);
    for (uint i = lane; i < 256; i += 32)
        elements[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 held;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held.x), "=r"(held.y), "=r"(held.z), "=r"(held.w)
                 : "r"((uint)(size_t)(elements + 8 * lane)));
    const uint first = lane / 4 * 8 + lane % 4 * 2, pair = first | (first + 1) << 16, next = 0x10001u * 64;
    check(answer, all(held == (uint4)(pair, pair + next, pair + 2 * next, pair + 3 * next)));
}
