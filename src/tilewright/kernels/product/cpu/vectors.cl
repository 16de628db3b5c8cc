// Vectors of VW elements: how they are loaded and stored in each storage format, and how a block of them is transposed.
//
// REAL is the type that is multiplied. Memory may hold another one: half or bfloat16 (widened to float while packing) or
// a short integer (exact as float in blocks of K as deep as elements.py allows). IN and IN_FORMAT say what A and B hold, OUT and OUT_FORMAT what C holds:
// plain (the element itself), half, bfloat (the upper half of a float, carried as ushort), integer (a short one) or truth (a byte
// that is read as 0 or 1, and written as such).
// ACC is the type of alpha, beta and of the sums between blocks of K.

typedef VECTOR(VW) vec;

// The same vectors at any address: dereferencing a plain `vec *` promises 64-byte alignment, and breaking that promise
// ends in a fault. (vloadN promises nothing either, but some compilers split it in 128-bit pieces.)
typedef vec loose_vec __attribute__((aligned(sizeof(REAL))));
#if !COMPLEX
typedef JOIN(ACC, VW) acc_vec;
typedef acc_vec loose_acc_vec __attribute__((aligned(sizeof(ACC))));
#endif
typedef JOIN(ushort, VW) loose_ushort_vec __attribute__((aligned(2)));
#if IN_IS_SHORT
typedef JOIN(IN, VW) loose_in_vec __attribute__((aligned(sizeof(IN))));
#endif
#if OUT_IS_SHORT
typedef JOIN(OUT, VW) loose_out_vec __attribute__((aligned(sizeof(OUT))));
#endif

#define AT(p) (*(vec *)(p))             // private memory, aligned
#define LOOSE_AT(p) (*(loose_vec *)(p)) // private memory, any address
#define LOOSE_GLOBAL(p) (*(__global loose_vec *)(p))
#define PREFETCH(p) __builtin_prefetch((const void *)(ulong)(p), 0, 2) // for reading, into the level-2 cache
#define PREFETCH_NEAR(p) __builtin_prefetch((const void *)(ulong)(p), 0, 3) // into the level-1 cache, too
#define LINE_BYTES 64

#define LOAD_plain(p) (*(const __global loose_vec *)(p))
#define STORE_plain(v, p) (*(__global loose_acc_vec *)(p) = (v))
#define GET_plain(p) (*(p))
#define PUT_plain(v, p) (*(p) = (v))

#define LOAD_half(p) JOIN(vload_half, VW)(0, p)
#define STORE_half(v, p) JOIN(vstore_half, VW)(v, 0, p)
#define GET_half(p) vload_half(0, p)
#define PUT_half(v, p) vstore_half(v, 0, p)

#define LOAD_bfloat(p) \
    JOIN(as_float, VW)(JOIN(convert_uint, VW)(*(const __global loose_ushort_vec *)(p)) << 16)
#define STORE_bfloat(v, p) (*(__global loose_ushort_vec *)(p) = JOIN(convert_ushort, VW)(round_bits(v)))
#define GET_bfloat(p) as_float((uint)*(p) << 16)
#define PUT_bfloat(v, p) (*(p) = (ushort)round_bits((vec)(v)).s0)

#define LOAD_integer(p) JOIN(JOIN(convert_, REAL), VW)(*(const __global loose_in_vec *)(p))
#define GET_integer(p) ((REAL)*(p))
#define STORE_integer(v, p) (*(__global loose_out_vec *)(p) = JOIN(JOIN(convert_, OUT), VW)(v)) // the lowest bits
#define PUT_integer(v, p) (*(p) = (OUT)(v))

#define LOAD_truth(p) JOIN(JOIN(convert_, REAL), VW)(min(*(const __global loose_in_vec *)(p), (uchar)1))
#define GET_truth(p) ((REAL)(*(p) != 0))
#define STORE_truth(v, p) (*(__global loose_out_vec *)(p) = JOIN(convert_uchar, VW)(min(v, (ACC)1)))
#define PUT_truth(v, p) (*(p) = (v) != 0)

#define LOAD_OUT_plain(p) (*(const __global loose_acc_vec *)(p)) // ACCs, which for int8 are not REALs
#define LOAD_OUT_half(p) LOAD_half(p)
#define LOAD_OUT_bfloat(p) LOAD_bfloat(p)
#define GET_OUT_plain(p) GET_plain(p)
#define GET_OUT_half(p) GET_half(p)
#define GET_OUT_bfloat(p) GET_bfloat(p)
#define GET_OUT_integer(p) ((ACC)*(p))
#define GET_OUT_truth(p) ((ACC)(*(p) != 0))
#define LOAD_OUT_integer(p) JOIN(JOIN(convert_, ACC), VW)(*(const __global loose_out_vec *)(p))
#define LOAD_OUT_truth(p) JOIN(JOIN(convert_, ACC), VW)(min(*(const __global loose_out_vec *)(p), (uchar)1))

#define LOAD_IN(p) JOIN(LOAD_, IN_FORMAT)(p)
#define GET_IN(p) JOIN(GET_, IN_FORMAT)(p)
#define LOAD_OUT(p) JOIN(LOAD_OUT_, OUT_FORMAT)(p)
#define STORE_OUT(v, p) JOIN(STORE_, OUT_FORMAT)(v, p)
#define GET_OUT(p) JOIN(GET_OUT_, OUT_FORMAT)(p)
#define PUT_OUT(v, p) JOIN(PUT_, OUT_FORMAT)(v, p)

#if OUT_IS_BFLOAT16
// The bits of bfloat16(value), rounded to nearest with ties to even, in the lower half of each element. NaN stays NaN.
static inline JOIN(uint, VW) round_bits(vec value)
{
    const JOIN(uint, VW) bits = JOIN(as_uint, VW)(value);
    const JOIN(uint, VW) rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return select(rounded, (bits >> 16) | 0x40, (bits & 0x7fffffff) > 0x7f800000);
}
#endif

// These are functions, not macros, for the sake of their arguments: LLVM makes do with vectors of half the machine's
// length (there were processors that slowed down for the long ones) unless a function is called with long ones.
#if DOT
// Each element is DOT pieces. Bytes are unsigned in one factor and signed in the other: pack_pieces.cl says in which, by
// SIGNED_BYTES. There is no word for this in OpenCL C. The constraint says "vector or general register", since some front ends
// know general ones only; a vector fits no other.
static inline vec multiply_add(const vec a, const vec b, vec c)
{
#if DOT == 2
    __asm__("vpdpwssd %2, %1, %0" : "+vr"(c) : "vr"(a), "vr"(b));
#elif SIGNED_BYTES
    __asm__("vpdpbusd %2, %1, %0" : "+vr"(c) : "vr"(a), "vr"(b));
#else
    __asm__("vpdpbusd %1, %2, %0" : "+vr"(c) : "vr"(a), "vr"(b));
#endif
    return c;
}
#elif REAL_IS_INTEGER
static inline vec multiply_add(const vec a, const vec b, const vec c) { return a * b + c; }
#else
static inline vec multiply_add(const vec a, const vec b, const vec c) { return fma(a, b, c); }
#endif

// interleave_low(a, b) is a0 b0 a1 b1 ... of the lower halves, interleave_high the same of the upper halves;
// evens and odds undo them: they part the pairs a0 b0 a1 b1 ... that two vectors hold one after the other.
#if VW == 16
#define LOG2_VW 4
#define LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#elif VW == 8
#define LOG2_VW 3
#define LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#elif VW == 4
#define LOG2_VW 2
#define LOW 0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#elif VW == 2
#define LOG2_VW 1
#define LOW 0, 2
#define HIGH 1, 3
#define EVEN 0, 2
#define ODD 1, 3
#endif
static inline vec interleave_low(const vec a, const vec b) { return __builtin_shufflevector(a, b, LOW); }
static inline vec interleave_high(const vec a, const vec b) { return __builtin_shufflevector(a, b, HIGH); }
static inline vec evens(const vec a, const vec b) { return __builtin_shufflevector(a, b, EVEN); }
static inline vec odds(const vec a, const vec b) { return __builtin_shufflevector(a, b, ODD); }

// Transposes VW vectors of VW elements in registers. One round interleaves vector i with vector i + VW/2, which moves
// the highest bit of the row number to the lowest bit of the column number; after log2(VW) rounds they have changed places.
static inline __attribute__((always_inline)) void transpose(vec *block)
{
#pragma unroll
    for (int round = 0; round < LOG2_VW; round++) {
        vec next[VW];
#pragma unroll
        for (int i = 0; i < VW / 2; i++) {
            next[2 * i] = interleave_low(block[i], block[i + VW / 2]);
            next[2 * i + 1] = interleave_high(block[i], block[i + VW / 2]);
        }
#pragma unroll
        for (int i = 0; i < VW; i++)
            block[i] = next[i];
    }
}
