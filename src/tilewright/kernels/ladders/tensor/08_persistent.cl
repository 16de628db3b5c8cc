// Work-groups stay for many tiles: storing one tile overlaps with loading the next.
//
// BM, BN, BK        the tile of C that a work-group computes, and the depth of its tiles of A and B: BK is 64
// STAGES            tiles of each operand in local memory: one is multiplied, the others are being filled
//
// There are as many work-groups as the device runs at a time, and each loops over tiles with a stride of the grid size.
// The producer does not wait for the end of a tile: it fills stages as they become empty. Consumers put 64 columns of C
// at a time into one of two slots of local memory, by stmatrix, and TMA stores them from there, whole lines at a time.

#define CONSUMERS (BM / 64)
#define ITEMS (128 * (1 + CONSUMERS))

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const __global half* A, const __global half* B, __global half* C,
          __global ulong* map_a, __global ulong* map_b, __global ulong* map_c)
{
    __local ushort tile_a[STAGES][BM][BK] __attribute__((aligned(1024)));
    __local ushort tile_b[STAGES][BN][BK] __attribute__((aligned(1024)));
    __local ushort slots[CONSUMERS][2][64][64] __attribute__((aligned(1024)));
    __local ulong full[STAGES], empty[STAGES];

    const int item = get_local_id(0), warp = item / 32 - 4, lane = item % 32;
    const int tiles_n = N / BN, tiles = M / BM * tiles_n, groups = get_num_groups(0);
    const int consumer = warp / 4, warpgroup_row = consumer * 64;

    if (item == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            mbarrier_init(local_address(&full[stage]), 1);
            mbarrier_init(local_address(&empty[stage]), CONSUMERS);
        }
        fence_mbarrier_init();
        tensormap_address(map_a, (ulong)A);
        tensormap_address(map_b, (ulong)B);
        tensormap_address(map_c, (ulong)C);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    uint count = 0;  // stages that were filled, or read, before this one
    if (warp < 0) {
        setmaxnreg_dec(24);
        for (int tile = get_group_id(0); tile < tiles && item == 0; tile += groups) {
            const int first_row = tile / tiles_n * BM, first_column = tile % tiles_n * BN;
            for (int first = 0; first < K; first += BK, count++) {
                const int stage = count % STAGES;
                const uint arrival = local_address(&full[stage]);
                mbarrier_wait(local_address(&empty[stage]), (count / STAGES + 1) % 2);
                mbarrier_arrive_expect_tx(arrival, (BM + BN) * BK * 2);
                cp_async_bulk_tensor_2d(local_address(tile_a[stage]), map_a, first, first_row, arrival);
                cp_async_bulk_tensor_2d(local_address(tile_b[stage]), map_b, first, first_column, arrival);
            }
        }
    } else {
        setmaxnreg_inc(240);
        for (int tile = get_group_id(0); tile < tiles; tile += groups) {
            const int first_row = tile / tiles_n * BM, first_column = tile % tiles_n * BN;
            float sum[BN / 2];
            for (int first = 0; first < K; first += BK, count++) {
                const int stage = count % STAGES;
                mbarrier_wait(local_address(&full[stage]), count / STAGES % 2);
                const ulong a = wgmma_descriptor(local_address(tile_a[stage][warpgroup_row]), 0, 1024);
                const ulong b = wgmma_descriptor(local_address(tile_b[stage]), 0, 1024);
                wgmma_fence();
#pragma unroll
                for (int k = 0; k < BK; k += 16)
                    wgmma_f32_f16(BN, sum, a + k * 2 / 16, b + k * 2 / 16, first + k > 0, 0, 0);
                wgmma_commit_group();
                wgmma_wait_group_1();  // the stage before this one has been read
                if (first > 0 && item % 128 == 0)
                    mbarrier_arrive(local_address(&empty[(count - 1) % STAGES]));
            }
            wgmma_wait_group_0();
            wgmma_ready(BN, "+f", sum);
            if (item % 128 == 0)
                mbarrier_arrive(local_address(&empty[(count - 1) % STAGES]));

#pragma unroll
            for (int part = 0; part < BN / 64; part++) {
                __local ushort(*slot)[64] = slots[consumer][part % 2];
                const int row = warp % 4 * 16 + lane % 16;
                if (item % 128 == 0)
                    bulk_wait_group_read_1();  // the store from this slot, before the last one
                bar_sync(1 + consumer, 128);
#pragma unroll
                for (int n = 0; n < 8; n += 2) {
                    const float* s = sum + part * 32 + n * 4;
                    stmatrix_x4(local_address(&slot[row][(n + lane / 16 ^ row % 8) * 8]), cvt_rn_f16x2_f32(s[0], s[1]),
                                cvt_rn_f16x2_f32(s[2], s[3]), cvt_rn_f16x2_f32(s[4], s[5]),
                                cvt_rn_f16x2_f32(s[6], s[7]));
                }
                fence_proxy_async();
                bar_sync(1 + consumer, 128);
                if (item % 128 == 0) {
                    cp_async_bulk_tensor_2d_store(map_c, first_column + part * 64, first_row + warpgroup_row,
                                                  local_address(slot));
                    bulk_commit_group();
                }
            }
        }
        if (item % 128 == 0)
            bulk_wait_group_read();
    }
}
