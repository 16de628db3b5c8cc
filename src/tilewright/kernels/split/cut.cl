// How a float is cut into two halves (f16), and when a product of cut vectors is as accurate as one of floats.
//
// x * 2^shift = high + low * 2^-11, where high has the first 11 bits and low the next 11. The vector's largest magnitude is
// in [2^14, 2^15); down to 2^-12 both halves are normal numbers and the error is at most 2^-23 of x. Below, it is at most
// 2^-36 in all. Three products are summed: high high + (high low + low high) 2^-11; low low, at most 2^-22 of the product,
// is left out. Together the cuts cost at most 2^-21 of |A||B|, and with random signs far less.

#define LOWEST -112  // 2^shift is a normal float for vectors whose largest magnitude is at least 2^LOWEST
#define SMALL 26     // from the largest magnitude, 2^14, to 2^-12
#define BIG 7
#define LOW_BITS 11
#define UNFIT 0xff

// A vector's range is (shift, small | share << 8):
//   shift  as above
//   small  0 if no element but zeros is below 2^-26 of the largest, else 1 + log2 of their number, rounded up; UNFIT for a
//          vector with infinities or NaN, or with magnitudes below 2^LOWEST alone
//   share  255ths of the elements, rounded down, that are at least 2^-7 of the largest
//
// Whether an element of C must be computed from floats, by the ranges of its row of A and its column of B.
//
// n small elements of the row add at most n 2^-36 b to it, where b is the largest of the column. If the shares of row and
// column are more than 1 together, there is a place where both are big, and |A||B| is at least 2^(14 - 7) 2^-7 b = b: the
// error is no more than 2^-24 of that while n is at most 2^12. The same the other way round.
static inline int needs_floats(const int2 a, const int2 b)
{
    const int a_small = a.y & 0xff, b_small = b.y & 0xff;
    return (a_small || b_small) && (max(a_small, b_small) > 13 || (a.y >> 8) + (b.y >> 8) <= 255);
}

static inline float power_of_two(const int exponent)
{
    return as_float((uint)(exponent + 127) << 23);
}

static inline ushort nearest_half(const float x)
{
    ushort bits;
    vstore_half_rte(x, 0, (half*)&bits);
    return bits;
}

static inline float half_value(const ushort bits)
{
    return vload_half(0, (const half*)&bits);
}

// Whether halves cannot hold a vector whose largest magnitude has these bits.
static inline int is_unfit(const uint most)
{
    return most >> 23 == 255 || (most && (int)(most >> 23) - 127 < LOWEST);
}

static inline int shift_of(const uint most)
{
    return most == 0 || is_unfit(most) ? 0 : 14 - ((int)(most >> 23) - 127);
}
