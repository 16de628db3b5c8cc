// Four warps multiply straight from local memory with wgmma: no fragments are loaded.
//
// BM, BN, BK        the tile of C that a work-group computes, and the depth of its tiles of A and B: BK is 64
// STAGES            tiles of each operand in local memory: one is multiplied, the others are being filled
//
// Each warpgroup computes 64 rows of the tile. It tells the hardware by a descriptor where its operands begin, 16 of k
// at a time; rows have 128 bytes now, permuted as wgmma expects it. The products are asynchronous: the warps commit
// them as a group and wait for it.

#include "result.cl"

#define ITEMS (BM / 64 * 128)

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const __global half* A, const __global half* B, __global RESULT* C,
          __global ulong* map_a, __global ulong* map_b)
{
    __local ushort tile_a[STAGES][BM][BK] __attribute__((aligned(1024)));
    __local ushort tile_b[STAGES][BN][BK] __attribute__((aligned(1024)));
    __local ulong full[STAGES];

    const int item = get_local_id(0), warp = item / 32, g = item % 32 / 4, q = item % 4;
    const size_t first_row = get_group_id(1) * BM, first_column = get_group_id(0) * BN;
    const int warpgroup_row = warp / 4 * 64;

    if (item == 0) {
        for (int stage = 0; stage < STAGES; stage++)
            mbarrier_init(local_address(&full[stage]), 1);
        fence_mbarrier_init();
        tensormap_address(map_a, (ulong)A);
        tensormap_address(map_b, (ulong)B);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float sum[BN / 2];
    for (int next = 0; next < K + (STAGES - 1) * BK; next += BK) {  // k of the tiles that TMA loads in this step
        const int first = next - (STAGES - 1) * BK, stage = first / BK % STAGES;
        if (first >= 0) {
            mbarrier_wait(local_address(&full[stage]), first / BK / STAGES % 2);
            barrier(CLK_LOCAL_MEM_FENCE);  // all reads of the tile before are done
        }
        if (next < K && item == 0) {
            const int free = next / BK % STAGES;
            const uint arrival = local_address(&full[free]);
            mbarrier_arrive_expect_tx(arrival, (BM + BN) * BK * 2);
            cp_async_bulk_tensor_2d(local_address(tile_a[free]), map_a, next, first_row, arrival);
            cp_async_bulk_tensor_2d(local_address(tile_b[free]), map_b, next, first_column, arrival);
        }
        if (first < 0)
            continue;

        const ulong a = wgmma_descriptor(local_address(tile_a[stage][warpgroup_row]), 0, 1024);
        const ulong b = wgmma_descriptor(local_address(tile_b[stage]), 0, 1024);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK; k += 16)
            wgmma_f32_f16(BN, sum, a + k * 2 / 16, b + k * 2 / 16, first + k > 0, 0, 0);
        wgmma_commit_group();
        wgmma_wait_group_0();
        wgmma_ready(BN, "+f", sum);
    }

#pragma unroll
    for (int i = 0; i < BN / 2; i += 2) {
        const size_t row = first_row + warp * 16 + g + i / 2 % 2 * 8, column = first_column + i / 4 * 8 + 2 * q;
        STORE2((float2)(sum[i], sum[i + 1]), C + row * N + column);
    }
}
