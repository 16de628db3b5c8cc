// cp.async: sixteen bytes per work-item from global to local memory, past the registers.
#include "check.cl"

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    __local uint words[128] __attribute__((aligned(128)));
    const uint item = get_local_id(0);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 ::"r"((uint)(size_t)(words + 4 * item)), "l"(numbers + 4 * item) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint other = 31 - item;
    check(answer, words[4 * other] == 4 * other && words[4 * other + 3] == 4 * other + 3);
}
