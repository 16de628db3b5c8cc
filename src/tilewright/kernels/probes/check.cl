// What a probe reports: answer[0] counts wrong values, answer[1] the work-items that got here.
//
// A probe is launched once with one work-group. numbers[i] is i; map is a tensor map (TMA) of numbers as a matrix of 64
// rows of 32, read by boxes of 8 rows of 16, in whose place the driver's address is not yet filled in.

static inline void check(__global int* answer, const int right)
{
    if (!right)
        atomic_inc(answer);
    atomic_inc(answer + 1);
}

// Two fp16 numbers, each the small integer `value`.
static inline uint two_halves(const float value)
{
    ushort bits;
    vstore_half(value, 0, (half*)&bits);
    return bits * 0x10001u;
}

// Whether a warp's accumulators hold depth * (row + 1) * (column + 1): items hold two neighbours in rows `row` and
// `row` + 8.
static inline int is_outer_product(const float4 sum, const int depth, const int row, const int column)
{
    const float4 right = (float4)((row + 1) * (column + 1), (row + 1) * (column + 2),
                                  (row + 9) * (column + 1), (row + 9) * (column + 2));
    return all(sum == depth * right);
}
