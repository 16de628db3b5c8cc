// The pieces of a tile whose panels several work-groups have multiplied, in global memory: piece after piece in the order of k.
// A work-item reads back what it would have written itself, so all accesses are vectors side by side.

#define PAIR JOIN(COMPONENT, 2)

// A work-item's sums, as number `piece`.
INLINE void store_partial(const COMPONENT* sum, __global COMPONENT* partials_of_tile, const int partial_number)
{
    __global PAIR* own = (__global PAIR*)partials_of_tile + get_local_id(0);
#pragma unroll
    for (int i = 0; i < SUMS / 2; i++)
        own[(partial_number * SUMS / 2 + i) * ITEMS] = (PAIR)(sum[2 * i], sum[2 * i + 1]);
}

// All pieces in their order, whoever does it: the result is the same at every run.
INLINE void add_partials(COMPONENT* sum, const __global COMPONENT* partials_of_tile, const int partials)
{
    const __global PAIR* own = (const __global PAIR*)partials_of_tile + get_local_id(0);
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sum[i] = 0;
    for (int other = 0; other < partials; other++)
#pragma unroll
        for (int i = 0; i < SUMS / 2; i++) {
            const PAIR two = own[(other * SUMS / 2 + i) * ITEMS];
            sum[2 * i] += two.x;
            sum[2 * i + 1] += two.y;
        }
}
