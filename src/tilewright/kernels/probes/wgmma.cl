// wgmma and setmaxnreg, for sm_90a: A[row][k] = row + 1 in registers, B[k][column] = column + 1 in local memory.
#include "check.cl"

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    __local uint columns[2 * 8 * 4] __attribute__((aligned(128)));  // two core matrices: 8 columns of 16 bytes along k
    const int item = get_local_id(0), lane = item % 32, row = item / 32 * 16 + lane / 4, column = lane % 4 * 2;
    if (item < 64)
        columns[item] = two_halves(item / 4 % 8 + 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    barrier(CLK_LOCAL_MEM_FENCE);
    asm volatile("//@setmaxnreg.dec.sync.aligned.u32 64;" ::: "memory");
    const ulong descriptor = (ulong)((uint)(size_t)columns >> 4 & 0x3fff) | 8ul << 16 | 8ul << 32;
    const uint2 a = (uint2)(two_halves(row + 1), two_halves(row + 9));
    float4 sum = 0;
    asm volatile("//@wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("//@wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %4, %5}, %6, 1, 1, 1, 0;"
                 : "+f"(sum.x), "+f"(sum.y), "+f"(sum.z), "+f"(sum.w)
                 : "r"(a.x), "r"(a.y), "l"(descriptor)
                 : "memory");
    asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("//@wgmma.wait_group.sync.aligned 0;" : "+f"(sum.x), "+f"(sum.y), "+f"(sum.z), "+f"(sum.w)::"memory");
    check(answer, is_outer_product(sum, 16, row, column));
}
