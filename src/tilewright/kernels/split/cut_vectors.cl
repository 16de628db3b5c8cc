// Measures each row of A (or column of B), then cuts it into two rows of halves, along k whatever the operand's own order.
//
// VECTORS  rows or columns of a work-group: as many floats as a memory sector has
// LANES    work-items for each of them
// STEPS    elements of each that pass through local memory at a time, so that reads and writes both run along memory
// ALONG_K  1 if neighbours in memory are neighbours along k, 0 if they are of one k
// pitch    from one row of halves to the next, in elements: a multiple of 8, as the copy engine wants it; the rows of all
//          low halves follow those of the high ones
//
// The vectors are read twice; the second time they come from the cache, as few work-groups run at a time. For vector v,
// ranges[v] says how it was scaled, and what its elements are like; see cut.cl.
//
// Work-groups: dimension 0 the vectors, 1 the batch.

#include "cut.cl"

#define ITEMS (VECTORS * LANES)
#define PITCH (STEPS + 4)
#define LOADS (STEPS / LANES)

// This work-item's vector and its place along k, when it reads.
#define VECTOR_OF(item) (ALONG_K ? (item) / LANES : (item) % VECTORS)
#define LANE_OF(item) (ALONG_K ? (item) % LANES : (item) / VECTORS)

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void cut_vectors(const int LENGTH, const int K, const int pitch, const __global float* restrict X, const long x_offset,
                 const long x_vector, const long x_k, const long x_batch, __global int2* restrict ranges,
                 __global uint* restrict halves)
{
    __local float tile[VECTORS * PITCH];
    __local uint largest[VECTORS], small_count[VECTORS], big_count[VECTORS];
    const int item = get_local_id(0), first = get_group_id(0) * VECTORS;
    const int vector = VECTOR_OF(item), lane = LANE_OF(item);
    const long batch = get_group_id(1);
    X += x_offset + batch * x_batch + (long)min(first + vector, LENGTH - 1) * x_vector;

    if (item < VECTORS)
        largest[item] = small_count[item] = big_count[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    // Magnitudes as bits: they are in the order of the numbers, NaN beyond infinity.
    const long stride = LANES * x_k;
    const __global float* from = X + lane * x_k;
    uint most = 0;
#pragma unroll 8
    for (int k = lane; k < K; k += LANES, from += stride)
        most = max(most, as_uint(*from) & 0x7fffffff);
    atomic_max(largest + vector, most);
    barrier(CLK_LOCAL_MEM_FENCE);
    most = largest[vector];

    const uint small_limit = most > SMALL << 23 ? most - (SMALL << 23) : 1;
    const uint big_limit = most > BIG << 23 ? most - (BIG << 23) : 1;
    const int own = item / LANES, pair = item % LANES;  // what it writes: two neighbours along k
    const float scale = power_of_two(shift_of(largest[own]));
    __global uint* high = halves + (2 * batch * LENGTH + first + own) * pitch / 2;
    __global uint* low = high + (long)LENGTH * pitch / 2;
    uint found_small = 0, found_big = 0;
    from = X + lane * x_k;
    for (int start = 0; start < K; start += STEPS) {
        float held[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++, from += stride)
            held[i] = start + lane + i * LANES < K ? *from : 0.0f;
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const uint bits = as_uint(held[i]) & 0x7fffffff;
            found_small += bits && bits < small_limit;
            found_big += bits >= big_limit;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            tile[vector * PITCH + lane + i * LANES] = held[i];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < LOADS / 2; i++) {
            const int step = 2 * (pair + i * LANES);
            if (first + own < LENGTH && start + step < pitch) {
                const float even = tile[own * PITCH + step] * scale, odd = tile[own * PITCH + step + 1] * scale;
                const ushort even_bits = nearest_half(even), odd_bits = nearest_half(odd);
                const float even_rest = (even - half_value(even_bits)) * (1 << LOW_BITS);
                const float odd_rest = (odd - half_value(odd_bits)) * (1 << LOW_BITS);
                high[(start + step) / 2] = even_bits | (uint)odd_bits << 16;
                low[(start + step) / 2] = nearest_half(even_rest) | (uint)nearest_half(odd_rest) << 16;
            }
        }
    }
    if (found_small)
        atomic_add(small_count + vector, found_small);
    atomic_add(big_count + vector, found_big);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0 && first + vector < LENGTH) {
        const uint few = small_count[vector];
        const int small = few ? 1 + (few > 1 ? 32 - clz(few - 1) : 0) : 0;
        const int share = (int)((ulong)big_count[vector] * 255 / max(K, 1));
        ranges[batch * LENGTH + first + vector] = (int2)(shift_of(most), (is_unfit(most) ? UNFIT : small) | share << 8);
    }
}
