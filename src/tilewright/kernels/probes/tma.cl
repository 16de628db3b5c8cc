// cp.async.bulk.tensor: TMA loads a box of a matrix by its tensor map, and an mbarrier counts the bytes.
#include "check.cl"
#include "../prelude/opencl.cl"
#include "../prelude/nvidia.cl"
#include "../prelude/tma.cl"

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    __local uint box[8 * 16] __attribute__((aligned(128)));
    __local ulong full __attribute__((aligned(8)));
    const uint item = get_local_id(0), arrived = local_address(&full);
    if (item == 0) {
        mbarrier_init(arrived, 1);
        fence_mbarrier_init();
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        tensormap_address(map, (ulong)numbers);
        mbarrier_arrive_expect_tx(arrived, sizeof(box));
        cp_async_bulk_tensor_2d(local_address(box), map, 24, 60, arrived);
    }
    mbarrier_wait(arrived, 0);
    int right = 1;
    for (uint i = item; i < 8 * 16; i += 32) {
        const uint row = 60 + i / 16, column = 24 + i % 16;  // half of the box lies outside the matrix: zeros
        right &= box[i] == (row < 64 && column < 32 ? row * 32 + column : 0);
    }
    check(answer, right);
}
