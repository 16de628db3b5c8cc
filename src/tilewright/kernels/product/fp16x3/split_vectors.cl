// Measures each row of A and each column of B, then splits it into two rows of fp16, along k whatever the operand's own order.
//
// ITEMS    work-items of a work-group, which splits a few vectors of one operand; the first a_groups split A's
// HELD     floats of a vector that a work-item holds at a time, a multiple of 8: those of all its work-items are a chunk
// and for each operand, A_... and B_...:
// LANES    work-items for each vector, at least FOLD; at most ITEMS / 4 if it lies across k
// ALONG    1 if neighbours in memory are neighbours along k, 0 if they are of one k
// WIDTH    floats that one load takes, 4 or 1
// WHOLE    1 if a vector is one chunk
//
// pitch    from one row of fp16 to the next, in elements: a multiple of 8, as TMA wants it; the rows of all
//          low parts follow those of the high ones
//
// A vector's scale follows from the largest of its first chunk. Should the rest hold one beyond what that leaves room for,
// the work-group splits its vectors once more. For vector v, ranges[v] says how it was scaled, and what its elements are like;
// see split.cl.

#include "split.cl"

#define FOLD 16  // values that all work-items of a vector read, after as many of them have folded the others into these
#define VECTORS (HELD / 4)
#define A_VECTORS (ITEMS / A_LANES)
#define B_VECTORS (ITEMS / B_LANES)
// A tile transposes what is read across k: a row of STEP floats for each vector, which meets all banks in both directions.
#define STEP(lanes) (4 * (lanes))
#define PITCH(lanes) (STEP(lanes) + 4)
#define TILE(along, lanes) ((along) ? 0 : ITEMS / (lanes) * PITCH(lanes))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define ROOM LARGER(2 * LARGER(TILE(A_ALONG, A_LANES), TILE(B_ALONG, B_LANES)), 2 * ITEMS)  // floats

// The largest of `count` values that the work-items of a vector left in `values`.
INLINE uint largest_of(local uint* values, const int count, const int lane)
{
    uint most = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < FOLD) {
        for (int i = lane; i < count; i += FOLD)
            most = max(most, values[i]);
        values[lane] = most;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < FOLD; i++)
        most = max(most, values[i]);
    return most;
}

// Their sum.
INLINE uint2 total_of(local uint2* values, const int count, const int lane)
{
    uint2 sum = MAKE2(uint, 0, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < FOLD) {
        for (int i = lane; i < count; i += FOLD)
            sum += values[i];
        values[lane] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = MAKE2(uint, 0, 0);
    for (int i = 0; i < FOLD; i++)
        sum += values[i];
    return sum;
}

// Four neighbours in memory, zeros where there are none: `left` of them there are.
INLINE float4 load_4(const __global float* from, const long left, const long stride, const int width)
{
    if (width == 4)
        return left > 0 ? *(const __global float4*)from : MAKE4(float, 0, 0, 0, 0);
    return MAKE4(float, left > 0 ? from[0] : 0.0f, left > 1 ? from[stride] : 0.0f, left > 2 ? from[2 * stride] : 0.0f,
                    left > 3 ? from[3 * stride] : 0.0f);
}

INLINE uint4 magnitudes(const float4 x)
{
    return as_uint4(x) & 0x7fffffff;
}

// The largest magnitude, as bits, of each work-item's own vector, from those that all found: they are in the order of the
// numbers, NaN beyond infinity.
INLINE uint share_largest(const uint4 found, local uint* values, const int lanes, const int along)
{
    const int item = get_local_id(0), own = item / lanes, quads = ITEMS / lanes / 4;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (along)
        values[item] = max(max(found.x, found.y), max(found.z, found.w));
    else {
        local uint* to = values + item % quads * 4 * STEP(lanes) + item / quads;
        to[0] = found.x;
        to[STEP(lanes)] = found.y;
        to[2 * STEP(lanes)] = found.z;
        to[3 * STEP(lanes)] = found.w;
    }
    const int count = along ? lanes : STEP(lanes);
    return largest_of(values + own * count, count, item % lanes);
}

// What a work-item reads: four neighbours along k, or of one k.
typedef struct {
    const __global float* X;  // the first of them
    int K, vectors, place;    // of X from there on: how long vectors are, how many; and where it is along k
    long k_stride, inner;
} Source;

INLINE float4 load_at(const Source from, const int k, const int along, const int width)
{
    const int left = along ? from.K - k - from.place : k + from.place < from.K ? from.vectors : 0;
    return load_4(from.X + k * from.k_stride, left, from.inner, width);
}

// Four floats of four vectors become four of the work-item's own vector; `place` is their place along k in the tile.
INLINE float4 transpose_4(const float4 x, local uint* tile, const int place, const int lanes)
{
    const int item = get_local_id(0), quads = ITEMS / lanes / 4;
    local uint* to = tile + item % quads * 4 * PITCH(lanes) + place;
    to[0] = as_uint(x.x);
    to[PITCH(lanes)] = as_uint(x.y);
    to[2 * PITCH(lanes)] = as_uint(x.z);
    to[3 * PITCH(lanes)] = as_uint(x.w);
    barrier(CLK_LOCAL_MEM_FENCE);
    return as_float4(*(const local uint4*)(tile + item / lanes * PITCH(lanes) + 4 * (item % lanes)));
}

// Counts small and big ones among four floats, and writes their two parts if they are `there`.
INLINE void split_4(const float4 x, const float scale, uint* found_small, uint* found_big, const int there,
                  __global uint2* high, __global uint2* low)
{
    const float4 scaled = x * scale;
    const int4 small = (magnitudes(x) != 0) & (magnitudes(scaled) < SMALL);  // -1 where it is so
    const int4 big = magnitudes(scaled) >= BIG;
    *found_small -= small.x + small.y + small.z + small.w;
    *found_big -= big.x + big.y + big.z + big.w;
    if (there) {
        const uint2 top = MAKE2(uint, nearest_halves(scaled.x, scaled.y), nearest_halves(scaled.z, scaled.w));
        const float2 first = rests(scaled.x, scaled.y, top.x), second = rests(scaled.z, scaled.w, top.y);
        *high = top;
        *low = MAKE2(uint, nearest_halves(first.x, first.y), nearest_halves(second.x, second.y));
    }
}

// Whether any vector of the work-group must be split once more.
INLINE int any_outgrows(const uint largest, const uint most, local uint* any)
{
    if (get_local_id(0) == 0)
        *any = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (outgrows(largest, most))
        *any = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    return *any;
}

// The range of a vector with so many small and big elements.
INLINE int2 range_of(const uint most, const uint largest, const uint small, const uint big, const int K)
{
    const int few = small ? 1 + (small > 1 ? 32 - clz(small - 1) : 0) : 0;
    const int share = (int)((ulong)big * 255 / max(K, 1));
    return MAKE2(int, shift_of(most), (is_unfit(largest) ? UNFIT : few) | share << 8);
}

INLINE void split_rows(const int length, const int first, const int K, const int pitch, const __global float* X,
                const long x_vector, const long x_k, __global int2* ranges, __global uint* halves, local uint* room,
                const int lanes, const int along, const int width, const int whole)
{
    const int vectors = ITEMS / lanes, step = STEP(lanes), quads = vectors / 4;
    const int item = get_local_id(0), own = item / lanes, lane = item % lanes;
    const int vector = first + (along ? own : item % quads * 4), place = along ? 4 * lane : item / quads;
    const long k_stride = along && width == 4 ? 1 : x_k;
    const Source from = {X + (along ? min(vector, length - 1) : vector) * x_vector + place * k_stride, K, length - vector, place,
                         k_stride, along ? x_k : x_vector};
    __global uint2* high = (__global uint2*)(halves + (long)(first + own) * pitch / 2) + lane;
    __global uint2* low = high + (long)length * pitch / 4;

    local uint* any = room + (along ? ITEMS : vectors * step);
    float4 held[VECTORS];
    uint4 found = MAKE4(uint, 0, 0, 0, 0);
#pragma unroll
    for (int vector_number = 0; vector_number < VECTORS; vector_number++) {
        held[vector_number] = load_at(from, vector_number * step, along, width);
        found = max(found, magnitudes(held[vector_number]));
    }
    uint most = share_largest(found, room, lanes, along), largest = most, small, big;
    int more = 0;
    do {
        const float scale = power_of_two(shift_of(most));
        small = big = 0;
        for (int start = 0; start < K; start += VECTORS * step)
#pragma unroll
            for (int vector_number = 0; vector_number < VECTORS; vector_number++) {
                const int k = start + vector_number * step;
                const float4 now = held[vector_number];
                if (!whole) {
                    held[vector_number] = load_at(from, k + VECTORS * step, along, width);  // on its way while others are split
                    found = max(found, magnitudes(now));
                }
                local uint* tile = room + (vector_number + 1) % 2 * vectors * PITCH(lanes);  // not the one of the piece before
                const float4 x = along ? now : transpose_4(now, tile, place, lanes);
                split_4(x, scale, &small, &big, first + own < length && k + 4 * lane < pitch, high + k / 4, low + k / 4);
            }
        more = 0;
        if (!whole) {
            largest = share_largest(found, room, lanes, along);
            more = any_outgrows(largest, most, any);
            most = more ? largest : most;
#pragma unroll
            for (int vector_number = 0; vector_number < VECTORS && more; vector_number++)
                held[vector_number] = load_at(from, vector_number * step, along, width);
        }
    } while (more);

    local uint2* counts = (local uint2*)room + own * lanes;
    barrier(CLK_LOCAL_MEM_FENCE);
    counts[lane] = MAKE2(uint, small, big);
    const uint2 counted = total_of(counts, lanes, lane);
    if (lane == 0 && first + own < length)
        ranges[first + own] = range_of(most, largest, counted.x, counted.y, K);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void split_vectors(const int M, const int N, const int K, const int pitch, const int a_groups,
                 const __global float* restrict A, const long a_offset, const long a_row, const long a_column,
                 const long a_batch, const __global float* restrict B, const long b_offset, const long b_row,
                 const long b_column, const long b_batch, __global int2* restrict ranges_a, __global uint* restrict halves_a,
                 __global int2* restrict ranges_b, __global uint* restrict halves_b)
{
    __local uint room[ROOM] __attribute__((aligned(16)));  // bits of floats, too: memory of two types may be taken for two memories
    const int group = get_group_id(0);
    if (group < a_groups) {
        const int groups = (M + A_VECTORS - 1) / A_VECTORS;
        const long matrix = group / groups;
        split_rows(M, group % groups * A_VECTORS, K, pitch, A + a_offset + matrix * a_batch, a_row, a_column, ranges_a + matrix * M,
            halves_a + matrix * M * pitch, room, A_LANES, A_ALONG, A_WIDTH, A_WHOLE);
    } else {
        const int groups = (N + B_VECTORS - 1) / B_VECTORS;
        const long matrix = (group - a_groups) / groups;
        split_rows(N, (group - a_groups) % groups * B_VECTORS, K, pitch, B + b_offset + matrix * b_batch, b_column, b_row,
            ranges_b + matrix * N, halves_b + matrix * N * pitch, room, B_LANES, B_ALONG, B_WIDTH, B_WHOLE);
    }
}
