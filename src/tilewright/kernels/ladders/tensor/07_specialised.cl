// One warpgroup loads, the others multiply and get its registers: tiles of C grow twice as wide.
//
// BM, BN, BK        the tile of C that a work-group computes, and the depth of its tiles of A and B: BK is 64
// STAGES            tiles of each operand in local memory: one is multiplied, the others are being filled
//
// No warp waits for the whole work-group: a second barrier for each stage tells the producer that the consumers
// have read it. They are a product ahead of what they have finished, so that the tensor cores never run dry. A sum of
// 64 x 256 takes 128 registers of each work-item: setmaxnreg moves the producer's to the consumers.

#include "result.cl"

#define CONSUMERS (BM / 64)
#define ITEMS (128 * (1 + CONSUMERS))

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const __global half* A, const __global half* B, __global RESULT* C,
          __global ulong* map_a, __global ulong* map_b)
{
    __local ushort tile_a[STAGES][BM][BK] __attribute__((aligned(1024)));
    __local ushort tile_b[STAGES][BN][BK] __attribute__((aligned(1024)));
    __local ulong full[STAGES], empty[STAGES];

    const int item = get_local_id(0), warp = item / 32 - 4, g = item % 32 / 4, q = item % 4;
    const size_t first_row = get_group_id(1) * BM, first_column = get_group_id(0) * BN;
    const int warpgroup_row = warp / 4 * 64;

    if (item == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(local_address(&full[stage]), 1);
            mbarrier_init(local_address(&empty[stage]), CONSUMERS);
        }
        fence_mbarrier_init();
        tensormap_address(map_a, (ulong)A);
        tensormap_address(map_b, (ulong)B);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (warp < 0) {
        setmaxnreg_dec(24);
        for (int first = 0; first < K && item == 0; first += BK) {
            const int stage = first / BK % STAGES;
            const uint arrival = local_address(&full[stage]);
            mbarrier_wait(local_address(&empty[stage]), (first / BK / STAGES + 1) % 2);
            mbarrier_arrive_expect_tx(arrival, (BM + BN) * BK * 2);
            cp_async_bulk_tensor_2d(local_address(tile_a[stage]), map_a, first, first_row, arrival);
            cp_async_bulk_tensor_2d(local_address(tile_b[stage]), map_b, first, first_column, arrival);
        }
    } else {
        setmaxnreg_inc(240);
        float sum[BN / 2];
        for (int first = 0; first < K; first += BK) {
            const int stage = first / BK % STAGES;
            mbarrier_wait(local_address(&full[stage]), first / BK / STAGES % 2);
            const ulong a = wgmma_descriptor(local_address(tile_a[stage][warpgroup_row]), 0, 1024);
            const ulong b = wgmma_descriptor(local_address(tile_b[stage]), 0, 1024);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK; k += 16)
                wgmma_f32_f16(BN, sum, a + k * 2 / 16, b + k * 2 / 16, first + k > 0, 0, 0);
            wgmma_commit_group();
            wgmma_wait_group_1();  // the stage before this one has been read
            if (first > 0 && item % 128 == 0)
                mbarrier_arrive(local_address(&empty[(first / BK - 1) % STAGES]));
        }
        wgmma_wait_group_0();
        wgmma_ready(BN, "+f", sum);

#pragma unroll
        for (int i = 0; i < BN / 2; i += 2) {
            const size_t row = first_row + warp * 16 + g + i / 2 % 2 * 8, column = first_column + i / 4 * 8 + 2 * q;
            STORE2((float2)(sum[i], sum[i + 1]), C + row * N + column);
        }
    }
}
