// How a float32 is split into two fp16 numbers, and when a product of split vectors is as accurate as a float32 product.
//
// x * 2^shift = high + low * 2^-11, where high has the first 11 bits and low the next 11. The vector's largest magnitude is
// in [2^12, 2^15); from 2^-12 on the error is at most 2^-23 of x, and below it is at most 2^-36 in all. Three products are
// summed: high high + (high low + low high) 2^-11; low low, at most 2^-22 of the product, is left out. Together the splits cost
// at most 2^-21 of |A||B|, and with random signs far less.

#define FIRST 12     // exponent to which the largest magnitude known is brought
#define ROOM_ABOVE 2 // powers of two by which a later one may be larger
#define LOWEST -112  // 2^shift is a normal float for vectors whose largest magnitude is at least 2^LOWEST
#define SMALL ((127 - 12) << 23)  // 2^-12 as bits
#define BIG ((127 + 7) << 23)   // 2^7
#define MOST_SMALL 12
#define LOW_BITS 11
#define UNFIT 0xff

// A vector's range is (shift, small | share << 8):
//   shift  as above
//   small  0 if no element but zeros becomes smaller than 2^-12, else 1 + log2 of their number, rounded up; UNFIT for a
//          vector with infinities or NaN, or with magnitudes below 2^LOWEST alone
//   share  255ths of the elements, rounded down, that become 2^7 at least
//
// Whether an element of C must be computed from floats, by the second halves of the ranges of its row and its column.
//
// n small elements of the row add at most n 2^-36 2^15 to it, since none of the column is larger than 2^15. If the shares of
// row and column are more than 1 together, there is a place where both are 2^7 at least, and |A||B| is at least 2^14: the
// error is no more than 2^-24 of that while n is at most 2^11. The same the other way round.
INLINE int needs_floats(const int a, const int b)
{
    const int a_small = a & 0xff, b_small = b & 0xff;
    return (a_small || b_small) && (max(a_small, b_small) > MOST_SMALL || (a >> 8) + (b >> 8) <= 255);
}

INLINE float power_of_two(const int exponent)
{
    return as_float((uint)(exponent + 127) << 23);
}

INLINE ushort nearest_half(const float x)
{
    ushort bits;
    vstore_half_rte(x, 0, (half*)&bits);
    return bits;
}

INLINE float half_value(const ushort bits)
{
    return vload_half(0, (const half*)&bits);
}

// Two halves that lie side by side, the first in the lower bits.
INLINE uint nearest_halves(const float first, const float second)
{
    return nearest_half(first) | (uint)nearest_half(second) << 16;
}

// What two floats are beyond their nearest halves, 2^LOW_BITS times.
INLINE float2 rests(const float first, const float second, const uint halves)
{
    return (MAKE2(float, first, second) - MAKE2(float, half_value(halves & 0xffff), half_value(halves >> 16))) * (1 << LOW_BITS);
}

// Whether halves cannot hold a vector whose largest magnitude has these bits.
INLINE int is_unfit(const uint most)
{
    return most >> 23 == 255 || (most && (int)(most >> 23) - 127 < LOWEST);
}

INLINE int shift_of(const uint most)
{
    return most == 0 || is_unfit(most) ? 0 : FIRST - ((int)(most >> 23) - 127);
}

// Whether a vector that was scaled by `most` must be scaled anew, as its largest is `largest`.
INLINE int outgrows(const uint largest, const uint most)
{
    return !is_unfit(largest) && largest > most && (shift_of(most) == 0 || (largest >> 23) > (most >> 23) + ROOM_ABOVE);
}
