// The fix-up of tail split: a tile's work-groups, one for each part of its k, store partial tiles for each other. Each then adds
// up OWN_VECTORS of a work-item's vectors over all partial tiles, and keeps these of its own in registers.

#define VECTORS (BLOCKS * WN / 8)              // sums of a work-item, four at a time: those of neighbours lie side by side
#define OWN_VECTORS ((VECTORS + TAIL_SPLIT - 1) / TAIL_SPLIT)  // of them that one work-group finishes

#define PARTIAL_WIDTH 4
#define PARTIAL_VECTORS (CONSUMERS * VECTORS)
#define PARTIAL_ITEMS 128
#include "../fixup.cl"

// Stores a consumer's sums in its partial tile, but those that part `own` of k adds up: they go to `own_vectors`.
INLINE void store_others(COMPONENT sums[BLOCKS][WN / 2], COMPONENT own_vectors[OWN_VECTORS][4], const int own, __global COMPONENT* partial)
{
#pragma unroll
    for (int vector = 0; vector < VECTORS; vector++) {
        const COMPONENT* v = sums[vector * 4 / (WN / 2)] + vector * 4 % (WN / 2);
        if (vector / OWN_VECTORS == own)
            vstore4(MAKE4(COMPONENT, v[0], v[1], v[2], v[3]), 0, own_vectors[vector % OWN_VECTORS]);
        else
            *(__global JOIN(COMPONENT, 4)*)(partial + vector * 4 * 128) = MAKE4(COMPONENT, v[0], v[1], v[2], v[3]);
    }
}

// Waits until all partial tiles are there. All work-groups run at a time, so this ends.
INLINE void await_partials(volatile __global int* semaphore, const int consumer, const int item)
{
    bar_sync(1 + consumer, 128);
    if (item == 0) {
        fence_acq_rel_gpu();
        atomic_inc(semaphore);
        await_arrivals(semaphore, TAIL_SPLIT);
        fence_acq_rel_gpu();
    }
    bar_sync(1 + consumer, 128);
    if (item == 32)
        depart(semaphore, TAIL_SPLIT);
}

// Adds up and stores this work-group's vectors of a consumer's part of tile number `tile` of the tail wave. It has part `own` of k.
INLINE void reduce_and_store(COMPONENT sums[BLOCKS][WN / 2], const Part part, const int tile, const int own,
                         const ACC alpha, const ACC beta, __global RESULT* C, const long c_row, const __global RESULT* bias,
                         const long bias_row, const long bias_column, __global COMPONENT* partial, __global int* semaphores,
                         const int consumer, const int item)
{
    const size_t room = BLOCKS * WN / 2 * 128, slot = room * CONSUMERS;
    COMPONENT own_vectors[OWN_VECTORS][4], total[OWN_VECTORS][4];
    partial += slot * TAIL_SPLIT * tile + room * consumer + item * 4;
    store_others(sums, own_vectors, own, partial + slot * own);
    await_partials(semaphores + tile * CONSUMERS + consumer, consumer, item);
#pragma unroll
    for (int number = 0; number < OWN_VECTORS; number++) {
        const int vector = min(own * OWN_VECTORS + number, VECTORS - 1);
        JOIN(COMPONENT, 4) sum = MAKE4(COMPONENT, 0, 0, 0, 0);
#pragma unroll
        for (int chunk = 0; chunk < TAIL_SPLIT; chunk++)  // in this order, so that the bits are the same at every run
            sum += chunk == own ? vload4(0, own_vectors[number])
                                : *(const __global JOIN(COMPONENT, 4)*)(partial + slot * chunk + vector * 4 * 128);
        vstore4(sum, 0, total[number]);
    }
#pragma unroll
    for (int number = 0; number < OWN_VECTORS; number++) {
        const int vector = own * OWN_VECTORS + number;
#pragma unroll
        for (int i = 0; i < 4; i += C_VEC) {
            const int2 at = place_of(part, vector * 4 + i, item);
            if (vector < VECTORS && at.x < part.M && at.y < part.N)
                finish(total[number] + i, alpha, beta, C + at.x * c_row + at.y, bias + at.x * bias_row + at.y * bias_column,
                       bias_column);
        }
    }
}
