// What the elements of A, B and C are in memory, and what they are while they are multiplied and summed.
//
// STORED     how a component of A or B lies in memory: float, double, an integer, ushort for the 16-bit floats, or uchar for the 8-bit
//            ones and for bools
// RESULT     the same for C and bias
// COMPONENT  what a component is in registers and in local memory: float, double, int, uint, long or ulong
// WRAPPING   the unsigned type of its size, if it is an integer
// ACC        the type of alpha and beta: COMPONENT, or a vector of two for complex numbers
// PARTS      components of an element: 2 for complex numbers, else 1
// STORED_AS, RESULT_AS  plain, half, bfloat or truth, of bools; STORED_AS also e4m3 or e5m2, the 8-bit floats
// CONJUGATE_A, CONJUGATE_B  1 to conjugate a complex operand
//
// A short float is carried as its bits: cl_khr_fp16 is not needed, and no driver's half arithmetic is used.

#define decode_plain(bits) ((COMPONENT)(bits))
#define encode_plain(value) ((RESULT)(value))
#define decode_truth(bits) ((COMPONENT)((bits) != 0))  // products of bools are or-and: their sums are 0 where all are false
#define encode_truth(value) ((RESULT)((value) != 0))
#define decode_half(bits) half_to_float(bits)
#define encode_half(value) float_to_half(value)
#define decode_bfloat(bits) as_float((uint)(bits) << 16)
#define encode_bfloat(value) float_to_bfloat(value)
#define decode_e4m3(bits) e4m3_to_float(bits)
#define decode_e5m2(bits) half_to_float((ushort)((bits) << 8))

#define DECODE(bits) JOIN(decode_, STORED_AS)(bits)            // from A or B
#define DECODE_RESULT(bits) JOIN(decode_, RESULT_AS)(bits)     // from C or bias
#define ENCODE_RESULT(value) JOIN(encode_, RESULT_AS)(value)   // to C

// Component number `word` of elements of A or B at `elements`; with `conjugate`, imaginary parts change sign.
#define COMPONENT_OF(elements, word, conjugate) \
    (((conjugate) & (word)) ? -DECODE((elements)[word]) : DECODE((elements)[word]))

INLINE float half_to_float(ushort bits)
{
    return vload_half(0, (const half*)&bits);
}

INLINE ushort float_to_half(float value)
{
    ushort bits;
    vstore_half_rte(value, 0, (half*)&bits);
    return bits;
}

// Four bits of exponent with a bias of 7, a half's being 15; no infinities, and a NaN where all bits but the sign are set.
INLINE float e4m3_to_float(uchar bits)
{
    const float magnitude = 256.0f * half_to_float((ushort)((bits & 0x7f) << 7));
    const float value = (bits & 0x7f) == 0x7f ? as_float(0x7fc00000) : magnitude;
    return bits & 0x80 ? -value : value;
}

// Round to nearest, ties to even; a NaN stays one.
INLINE ushort float_to_bfloat(float value)
{
    const uint bits = as_uint(value);
    return isnan(value) ? (bits >> 16) | 0x40 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

// Where fma is one instruction, sums gain its single rounding; elsewhere it would be a slow emulation. Integers wrap, as
// NumPy's do, which C defines for unsigned ones only.
#if REAL_IS_INTEGER
#define ADD(a, b) ((COMPONENT)((WRAPPING)(a) + (WRAPPING)(b)))
#define TIMES(a, b) ((COMPONENT)((WRAPPING)(a) * (WRAPPING)(b)))
#else
#define ADD(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))
#endif
#if REAL_IS_INTEGER
#define MULTIPLY_ADD(a, b, c) ADD(TIMES(a, b), c)
#elif REAL_IS_DOUBLE || defined(FP_FAST_FMAF)
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) mad(a, b, c)
#endif

// sum += a * b for one element
INLINE void multiply_add(COMPONENT* sum, const COMPONENT* a, const COMPONENT* b)
{
#if PARTS == 1
    sum[0] = MULTIPLY_ADD(a[0], b[0], sum[0]);
#else
    sum[0] = MULTIPLY_ADD(a[0], b[0], sum[0]);
    sum[1] = MULTIPLY_ADD(a[0], b[1], sum[1]);
    sum[0] = MULTIPLY_ADD(-a[1], b[1], sum[0]);
    sum[1] = MULTIPLY_ADD(a[1], b[0], sum[1]);
#endif
}

// Reads `count` components (1, 2, 4, 8 or 16, known when compiling) by one load. `from` must be aligned to that load.
INLINE void load_stored(STORED* elements, const __global STORED* from, const int count)
{
    if (count == 16)
        vstore16(*(const __global JOIN(STORED, 16)*)from, 0, elements);
    else if (count == 8)
        vstore8(*(const __global JOIN(STORED, 8)*)from, 0, elements);
    else if (count == 4)
        vstore4(*(const __global JOIN(STORED, 4)*)from, 0, elements);
    else if (count == 2)
        vstore2(*(const __global JOIN(STORED, 2)*)from, 0, elements);
    else
        elements[0] = *from;
}

// The same for components of C.
INLINE void load_result(RESULT* elements, const __global RESULT* from, const int count)
{
    if (count == 8)
        vstore8(*(const __global JOIN(RESULT, 8)*)from, 0, elements);
    else if (count == 4)
        vstore4(*(const __global JOIN(RESULT, 4)*)from, 0, elements);
    else if (count == 2)
        vstore2(*(const __global JOIN(RESULT, 2)*)from, 0, elements);
    else
        elements[0] = *from;
}

INLINE void store_result(__global RESULT* to, const RESULT* elements, const int count)
{
    if (count == 8)
        *(__global JOIN(RESULT, 8)*)to = vload8(0, elements);
    else if (count == 4)
        *(__global JOIN(RESULT, 4)*)to = vload4(0, elements);
    else if (count == 2)
        *(__global JOIN(RESULT, 2)*)to = vload2(0, elements);
    else
        *to = elements[0];
}
