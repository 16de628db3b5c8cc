// A static local array of LOCAL_BYTES, less 128 bytes for the compiler and alignment: NVIDIA runs more than it reports.
#include "check.cl"

#define WORDS ((LOCAL_BYTES - 128) / 4)

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    __local uint words[WORDS] __attribute__((aligned(128)));
    const uint item = get_local_id(0);
    for (uint i = item; i < WORDS; i += 32)
        words[i] = numbers[i % 2048] + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int right = 1;
    for (uint i = 31 - item; i < WORDS; i += 32)
        right &= words[i] == i % 2048 + i;
    check(answer, right);
}
