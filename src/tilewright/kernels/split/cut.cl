// How a float is cut into two halves (f16), and when a product of cut vectors is as accurate as one of floats.
//
// x * 2^shift = high + low * 2^-11, where high has the first 11 bits and low the next 11. The vector's largest magnitude is
// in [2^14, 2^15); down to 2^-12 both halves are normal numbers and the error is at most 2^-23 of x. Below, it is at most
// 2^-36 in all. Three products are summed: high high + (high low + low high) 2^-11; low low, at most 2^-22 of the product,
// is left out. Together the cuts cost at most 2^-21 of |A||B|, and with random signs far less.

#define UNFIT 0x7fffffff  // a shift that says: infinities, NaN, or magnitudes below 2^LOWEST
#define LOWEST -112       // so that 2^shift is a normal float
#define SMALL 26          // from the largest magnitude, 2^14, to 2^-12
#define LOW_BITS 11

// A vector's range is (shift, small | spread << 8):
//   shift   as above, or UNFIT
//   small   0 if no element but zeros is below 2^-26 of the largest; else 1 + log2 of their number, rounded up
//   spread  log2 of the largest over the smallest magnitude, rounded up; 255 if there are zeros
//
// Whether an element of C must be computed from floats, by the ranges of its row of A and its column of B.
//
// n small elements of the row add at most n 2^-36 b to it, where b is the largest of the column. That is no more than
// 2^-24 of |A||B| if the column is nowhere smaller than 2^(log2(n) - 26) b, since then |A||B| is at least 2^14 times
// that. The same the other way round.
static inline int needs_floats(const int2 a, const int2 b)
{
    const int a_small = a.y & 0xff, a_spread = a.y >> 8, b_small = b.y & 0xff, b_spread = b.y >> 8;
    return a.x == UNFIT || b.x == UNFIT || (a_small && a_small - 1 + b_spread > SMALL)
           || (b_small && b_small - 1 + a_spread > SMALL);
}

static inline float power_of_two(const int exponent)
{
    return as_float((uint)(exponent + 127) << 23);
}

// value * 2^exponent for exponents from -252 to 252; like ldexp, but two multiplications.
static inline float scaled_by(const float value, const int exponent)
{
    const int half_way = exponent / 2;
    return value * power_of_two(half_way) * power_of_two(exponent - half_way);
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
