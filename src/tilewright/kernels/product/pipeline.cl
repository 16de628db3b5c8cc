// The pipeline: a producer has TMA load stages of A and B into local memory, and consumers multiply them.
//
// STAGES       stages in local memory: the producer is as many ahead
// STAGE_BYTES  bytes of a stage
// TRANSPOSERS  warps that transpose operands of a stage before it is multiplied; undefined if there are none
//
// Two mbarriers of each stage say whose it is: `full` completes when TMA has written the stage, `empty` when all consumers have
// read it. A third one, `transposed`, completes when all transposers have written to it. Stages are used in turn. The phases of
// an mbarrier have parity 0 and 1 alternately, and who waits says which of them. The parity changes whenever the first stage
// comes again. A new mbarrier counts as having completed a phase of parity 1. So a producer begins with parity 1 and finds all
// stages empty, and a consumer begins with parity 0.

// Local addresses of the first stage, and of the first mbarrier of each kind.
typedef struct {
    uint stages, full, empty;
#ifdef TRANSPOSERS
    uint transposed;
#endif
} Ring;

// The next stage of a producer or a consumer, and the parity of the phase that it waits for.
typedef struct {
    int stage;
    uint parity;
} PipelineState;

// Goes on to the next stage. A macro, as `stage` and `parity` are variables of whoever waits.
#define NEXT_STAGE(stage, parity)                      \
    {                                                  \
        stage += 1;                                    \
        if (stage == STAGES) {                         \
            stage = 0;                                 \
            parity ^= 1;                               \
        }                                              \
    }

// The ring whose mbarriers lie at `barriers`, kind after kind.
INLINE Ring ring_at(const uint stages, const uint barriers)
{
    Ring ring;
    ring.stages = stages;
    ring.full = barriers;
#ifdef TRANSPOSERS
    ring.transposed = ring.full + 8 * STAGES;
    ring.empty = ring.transposed + 8 * STAGES;
#else
    ring.empty = ring.full + 8 * STAGES;
#endif
    return ring;
}

// One work-item initialises all mbarriers. `consumers` is how many arrivals empty a stage. A fence must follow.
INLINE void init_barriers(const Ring ring, const int consumers)
{
    for (int stage = 0; stage < STAGES; stage++) {
        mbarrier_init(ring.full + 8 * stage, 1);
#ifdef TRANSPOSERS
        mbarrier_init(ring.transposed + 8 * stage, TRANSPOSERS);
#endif
        mbarrier_init(ring.empty + 8 * stage, consumers);
    }
}

#ifndef EMULATED
// The producer waits until a stage is empty, and says how many bytes TMA will write there. Returns the mbarrier that counts them.
INLINE uint begin_stage(const Ring ring, const int stage, const uint parity, const int bytes)
{
    const uint full = ring.full + 8 * stage;
    mbarrier_wait(ring.empty + 8 * stage, parity);
    mbarrier_arrive_expect_tx(full, bytes);
    return full;
}
#endif

#if defined(STREAM_K) && !defined(EMULATED)
// Waits until a stage is empty, and has TMA load the panels of A and B from `k` on, for the tile of sums that begins at `tile`.
// Each kernel defines it.
INLINE void load_stage(const Ring ring, const int stage, const uint parity, const __global ulong* map_a,
                        const __global ulong* map_b, const int2 tile, const int batch, const int k);

// One work-item loads the stages of all work that scheduler.cl gives this work-group, and does not stop at a tile's end. With
// `ahead` it says in the end that one more stage is full, which holds nothing: consumers may then read one stage too far.
INLINE void produce(const Ring ring, __global ulong* map_a, __global ulong* map_b, const int M, const int N, const int steps,
                    const int whole, const int tiles, const int ahead)
{
    const int area = tiles_of_matrix(M, N);
    Work work = before_work(whole, tiles, steps);
    int stage = 0;
    uint parity = 1;
    next_work(&work, whole, tiles, steps);
    while (work.first < work.last) {
        const int2 tile = tile_coordinates(work.number % area, M, N) * MAKE2(int, BM, BN);
        const int batch = work.number / area;
#pragma unroll 1
        for (int panel = work.first; panel < work.last; panel++) {
            load_stage(ring, stage, parity, map_a, map_b, tile, batch, panel * BK);
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
