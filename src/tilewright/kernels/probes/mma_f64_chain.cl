// mma.sync in double precision, 16 x 8 x 8: whether each sum takes its products one by one, by fused multiply-adds in ascending k.
#include "check.cl"

#define SEEDS 32

// A fraction with all 53 bits, between -0.5 and 0.5: sums of such products are rounded at every step.
static inline double fraction(const int place, const int seed)
{
    return ((place * 7919 + seed * 104729) % 65521 - 32760) / 65521.0;
}

static inline double chain(const int row, const int column, const int seed)
{
    double sum = fraction(row * 8 + column, seed + 2);
    for (int k = 0; k < 8; k++)
        sum = fma(fraction(row * 8 + k, seed), fraction(k * 8 + column, seed + 1), sum);
    return sum;
}

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    const int lane = get_local_id(0), g = lane / 4, q = lane % 4;
    int right = 1;
    for (int seed = 0; seed < 3 * SEEDS; seed += 3) {
        double4 sum = (double4)(fraction(g * 8 + 2 * q, seed + 2), fraction(g * 8 + 2 * q + 1, seed + 2),
                                fraction((g + 8) * 8 + 2 * q, seed + 2), fraction((g + 8) * 8 + 2 * q + 1, seed + 2));
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%0, %1, %2, %3};"
                     : "+d"(sum.x), "+d"(sum.y), "+d"(sum.z), "+d"(sum.w)
                     : "d"(fraction(g * 8 + q, seed)), "d"(fraction((g + 8) * 8 + q, seed)),
                       "d"(fraction(g * 8 + q + 4, seed)), "d"(fraction((g + 8) * 8 + q + 4, seed)),
                       "d"(fraction(q * 8 + g, seed + 1)), "d"(fraction((q + 4) * 8 + g, seed + 1)));
        right &= sum.x == chain(g, 2 * q, seed) && sum.y == chain(g, 2 * q + 1, seed) &&
                 sum.z == chain(g + 8, 2 * q, seed) && sum.w == chain(g + 8, 2 * q + 1, seed);
    }
    check(answer, right);
}
