// The pipeline: a producer has TMA fetch stages of A and B into local memory, and consumers multiply them.
//
// STAGES       stages in local memory: the producer is as many ahead
// STAGE_BYTES  of a stage, for `produce`
//
// Two mbarriers of each stage say whose it is: `full` completes when TMA has written the stage, `empty` when all consumers have
// read it. Stages are used in turn. Phases of an mbarrier have parity 0 and 1 by turns, and who waits says which of them: the
// parity changes whenever the first stage comes again. A new mbarrier counts as having completed a phase of parity 1. So a
// producer begins with parity 1 and finds all stages empty, and a consumer begins with parity 0.

// Local addresses of the first stage, and of the first mbarrier of each kind.
typedef struct {
    uint stages, full, empty;
} Ring;

// Goes on to the next stage. A macro, as `stage` and `parity` are variables of whoever waits.
#define NEXT_STAGE(stage, parity)                      \
    {                                                  \
        stage = stage + 1 < STAGES ? stage + 1 : 0;    \
        parity ^= stage == 0;                          \
    }

#if defined(STREAM_K) && !defined(EMULATED)
// Waits until a stage is empty, and asks TMA for the panels of A and B from `k` on, for the tile of sums that begins at `tile`.
// Each kernel says how.
INLINE void fetch_stage(const Ring ring, const int stage, const uint parity, const __global ulong* map_a,
                        const __global ulong* map_b, const int2 tile, const int batch, const int k);

// One work-item fetches the stages of all parts that scheduler.cl gives this work-group, and does not stop at a tile's end. With
// `ahead` it says in the end that one more stage is full, which holds nothing: consumers then read ahead without asking for the
// end.
INLINE void produce(const Ring ring, __global ulong* map_a, __global ulong* map_b, const int M, const int N, const int steps,
                    const int whole, const int tiles, const int ahead)
{
    const int area = tiles_of_matrix(M, N);
    Work work = before_work(whole, tiles, steps);
    int stage = 0;
    uint parity = 1;
    next_work(&work, whole, tiles, steps);
    while (work.first < work.last) {
        const int2 tile = tile_coordinates(work.number % area, M, N) * (int2)(BM, BN);
        const int batch = work.number / area;
#pragma unroll 1
        for (int panel = work.first; panel < work.last; panel++) {
            fetch_stage(ring, stage, parity, map_a, map_b, tile, batch, panel * BK);
            NEXT_STAGE(stage, parity)
        }
        next_work(&work, whole, tiles, steps);
    }
    if (ahead) {
        mbarrier_wait(ring.empty + 8 * stage, parity);
        mbarrier_arrive(ring.full + 8 * stage);
    }
}
#endif
