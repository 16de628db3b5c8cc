// The main loop of main_loop.cl with one operand from registers: wgmma takes 32-bit elements that lie across k from there alone.
// Work-items read that operand from the tile as TMA wrote it, and wgmma reads the other one in local memory.
//
// The tile consists of boxes: BK lines of 128 bytes, one for each k. Rows of sums may be any rows across k, so they are
// chosen to lie side by side: what a work-item reads at a time, and later stores, are UNIT neighbours.

#if BLOCKS == 2
#define UNIT 4  // of each block two rows, 8 apart for wgmma
#else
#define UNIT 2
#endif
#define BOX (BK * LINE)
#define HALF (K_STEPS / 2)  // products of half a stage
#define CHUNK 16            // bytes that the swizzle keeps together

// Which chunk of a line is a box's number 0, 1, ... 7. Work-items of a quarter of a warp read two of them, of 4 lines each;
// these are in all banks, as the swizzle exchanges chunks whose numbers differ in bits 0 and 1, and the two differ in bit 2.
// They differ in bit 0 as well, which keeps rows of C in different banks, too, on their way through local memory.
INLINE int chunk_of(const int number)
{
    return number / 2 ^ number % 2 * 5;
}

// The first of a work-item's UNIT rows of a consumer's sums.
INLINE int first_row(const int item)
{
    const int unit = item / 4, number = unit * BLOCKS / 2, in_chunk = unit % (2 / BLOCKS);
    return number / 8 * BK + chunk_of(number % 8) * 4 + in_chunk * UNIT;
}

// What a work-item multiplies of half a stage, as wgmma wants it (wgmma_f32_tf32_held): 16 of k from line `k` of a tile on.
INLINE void read_half(uint fragment[HALF][BLOCKS][4], const local uchar* tile, const int k, const int item)
{
    const int row = first_row(item), own = item % 4;
    const int first = row / BK * BOX + own * LINE + (row % BK / 4 ^ own) * CHUNK + row % 4 * 4;
    const int second = (first ^ 4 * CHUNK) + 4 * LINE;  // the same of 4 lines further
#pragma unroll
    for (int part = 0; part < HALF; part++) {
#pragma unroll
        for (int later = 0; later < 2; later++) {
            uint words[UNIT];
            const local uchar* from = tile + (k + part * 8) * LINE + (later ? second : first);
            JOIN(vstore, UNIT)(*(const local JOIN(uint, UNIT)*)from, 0, words);
#pragma unroll
            for (int i = 0; i < UNIT; i++)
                fragment[part][i / 2][later * 2 + i % 2] = words[i];
        }
    }
}

// Starts sums = the product of half a stage, plus what they were if `keep` is not 0. It runs on by itself.
INLINE void start_half(COMPONENT sums[BLOCKS][WN / 2], const uint fragment[HALF][BLOCKS][4], const ulong other, const int keep)
{
    wgmma_fence();
#pragma unroll
    for (int part = 0; part < HALF; part++)
#pragma unroll
        for (int block = 0; block < BLOCKS; block++)
            wgmma_f32_tf32_held(WN, sums[block], fragment[part][block], other + part * (LINE / K_STEPS / 16), part > 0 || keep);
    wgmma_commit_group();
}

// From wgmma's order to that of place_of: what lies side by side in C first. Registers get other names, nothing moves.
INLINE void order_sums(COMPONENT sums[BLOCKS][WN / 2])
{
    COMPONENT ordered[BLOCKS * WN / 2];
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i++) {
        const int row = REGISTER_B ? i % UNIT : i / 2 % UNIT, column = REGISTER_B ? i / UNIT % 2 : i % 2;
        ordered[i] = sums[row / 2][i / (2 * UNIT) * 4 + row % 2 * 2 + column];
    }
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i++)
        sums[i / (WN / 2)][i % (WN / 2)] = ordered[i];
}

// sums = the product of `steps` stages, from `state` on. While half a stage is multiplied, the other half is read, into other
// registers. Every warp releases each stage, as each reads by itself.
INLINE PipelineState multiply(COMPONENT sums[BLOCKS][WN / 2], PipelineState state, const int steps, const local uchar* register_tiles,
                     const uint other_tiles, const Ring ring, const int item)
{
    uint fragment[2][HALF][BLOCKS][4];
    uint last = 0;
    for (int step = 0; step < steps; step++) {
        const local uchar* tile = register_tiles + state.stage * STAGE_BYTES;
        const ulong other = wgmma_descriptor(other_tiles + state.stage * STAGE_BYTES, BLOCK, 8 * LINE);
        mbarrier_wait(ring.full + 8 * state.stage, state.parity);
        read_half(fragment[0], tile, 0, item);
        start_half(sums, fragment[0], other, step > 0);
        wgmma_wait_group_1();  // the stage before this one has been multiplied
        if (step > 0)
            release_stage(ring, last, item % 32);
        read_half(fragment[1], tile, BK / 2, item);
        start_half(sums, fragment[1], other + LINE / 2 / 16, 1);
        wgmma_wait_group_1();
        last = state.stage;
        NEXT_STAGE(state.stage, state.parity)
    }
    wgmma_wait_group_0();
#pragma unroll
    for (int block = 0; block < BLOCKS; block++)
        wgmma_ready(WN, KIND, sums[block]);
    release_stage(ring, last, item % 32);
    order_sums(sums);
    return state;
}
