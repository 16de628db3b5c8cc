// Inline PTX: each work-item of a warp reads its own lane number.
#include "check.cl"

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    uint lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    check(answer, lane == get_local_id(0));
}
