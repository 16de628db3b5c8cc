// Functions of numbers for clang alone: element by element, for every type and width.
//
// What a target has no instruction for comes from libdevice on NVIDIA. On AMD, sine, cosine and powers are made of the
// native instructions, which the vendor's library only begins with; what is not here stays a call that is reported.

#define TW_WIDTHS(what, ...) what(2, __VA_ARGS__) what(3, __VA_ARGS__) what(4, __VA_ARGS__) what(8, __VA_ARGS__) what(16, __VA_ARGS__)
#define TW_ALL_WIDTHS(what, type) what(type) what(type##2) what(type##3) what(type##4) what(type##8) what(type##16)

// Vectors of a function of scalars.
#define TW_EACH1(width, type, name)                                                                                \
    TW_BUILTIN type##width name(type##width a)                                                                     \
    {                                                                                                              \
        type##width r;                                                                                             \
        _Pragma("unroll") for (int i = 0; i < width; i++) r[i] = name(a[i]);                                       \
        return r;                                                                                                  \
    }
#define TW_EACH2(width, type, name)                                                                                \
    TW_BUILTIN type##width name(type##width a, type##width b)                                                      \
    {                                                                                                              \
        type##width r;                                                                                             \
        _Pragma("unroll") for (int i = 0; i < width; i++) r[i] = name(a[i], b[i]);                                 \
        return r;                                                                                                  \
    }
#define TW_EACH3(width, type, name)                                                                                \
    TW_BUILTIN type##width name(type##width a, type##width b, type##width c)                                       \
    {                                                                                                              \
        type##width r;                                                                                             \
        _Pragma("unroll") for (int i = 0; i < width; i++) r[i] = name(a[i], b[i], c[i]);                           \
        return r;                                                                                                  \
    }
#define TW_SECOND_SCALAR(width, type, name)                                                                        \
    TW_BUILTIN type##width name(type##width a, type b) { return name(a, (type##width)(b)); }
#define TW_WITH_INT(width, type, name)                                                                             \
    TW_BUILTIN type##width name(type##width a, int##width b)                                                       \
    {                                                                                                              \
        type##width r;                                                                                             \
        _Pragma("unroll") for (int i = 0; i < width; i++) r[i] = name(a[i], b[i]);                                 \
        return r;                                                                                                  \
    }                                                                                                              \
    TW_BUILTIN type##width name(type##width a, int b) { return name(a, (int##width)(b)); }

// Integers and floating-point numbers.
#define TW_NUMBER(type)                                                                                            \
    TW_BUILTIN type min(type a, type b) { return __builtin_elementwise_min(a, b); }                                \
    TW_BUILTIN type max(type a, type b) { return __builtin_elementwise_max(a, b); }                                \
    TW_BUILTIN type clamp(type a, type low, type high) { return min(max(a, low), high); }
#define TW_MIXED(width, type)                                                                                      \
    TW_SECOND_SCALAR(width, type, min) TW_SECOND_SCALAR(width, type, max)                                          \
    TW_BUILTIN type##width clamp(type##width a, type low, type high) { return min(max(a, low), high); }
#define TW_INTEGER(type)                                                                                           \
    TW_NUMBER(type)                                                                                                \
    TW_BUILTIN type rotate(type a, type by)                                                                        \
    {                                                                                                              \
        return __builtin_elementwise_fshl(a, a, by);                                                               \
    }                                                                                                              \
    TW_BUILTIN type popcount(type a) { return __builtin_elementwise_popcount(a); }                                 \
    TW_BUILTIN type add_sat(type a, type b) { return __builtin_elementwise_add_sat(a, b); }                        \
    TW_BUILTIN type sub_sat(type a, type b) { return __builtin_elementwise_sub_sat(a, b); }                        \
    TW_BUILTIN type hadd(type a, type b) { return (a & b) + ((a ^ b) >> (type)1); }                                      \
    TW_BUILTIN type rhadd(type a, type b) { return (a | b) - ((a ^ b) >> (type)1); }                                     \
    TW_BUILTIN type bitselect(type a, type b, type c) { return (a & ~c) | (b & c); }
#define TW_LEADING(type, unsigned_type, bits, wide)                                                                \
    TW_BUILTIN type clz(type a) { return a ? __builtin_clzll((unsigned_type)a) - (64 - bits) : bits; }             \
    TW_BUILTIN type ctz(type a) { return a ? __builtin_ctzll((unsigned_type)a) : bits; }                           \
    TW_BUILTIN type mul_hi(type a, type b) { return ((wide)a * (wide)b) >> bits; }                                 \
    TW_BUILTIN unsigned_type abs_diff(type a, type b) { return a > b ? (unsigned_type)a - b : (unsigned_type)b - a; } \
    TW_BUILTIN type mad_hi(type a, type b, type c) { return mul_hi(a, b) + c; }                                    \
    TW_BUILTIN type mad_sat(type a, type b, type c)                                                                \
    {                                                                                                              \
        type low = a * b, high = mul_hi(a, b);                                                                     \
        return high != ((type)-1 < 0 ? low >> (bits - 1) : 0) ? ~(type)0 : add_sat(low, c);                        \
    }                                                                                                              \
    TW_WIDTHS(TW_EACH1, type, clz) TW_WIDTHS(TW_EACH1, type, ctz) TW_WIDTHS(TW_EACH2, type, mul_hi)                \
    TW_WIDTHS(TW_EACH3, type, mad_hi) TW_WIDTHS(TW_EACH3, type, mad_sat)                                           \
    TW_WIDTHS(TW_DIFFERENCES, type, unsigned_type)
#define TW_DIFFERENCES(width, type, unsigned_type)                                                                 \
    TW_BUILTIN unsigned_type##width abs_diff(type##width a, type##width b)                                         \
    {                                                                                                              \
        unsigned_type##width r;                                                                                    \
        _Pragma("unroll") for (int i = 0; i < width; i++) r[i] = abs_diff(a[i], b[i]);                             \
        return r;                                                                                                  \
    }
#define TW_SIGNED(type, unsigned_type)                                                                             \
    TW_BUILTIN unsigned_type abs(type a) { return __builtin_astype(__builtin_elementwise_abs(a), unsigned_type); } \
    TW_BUILTIN unsigned_type abs(unsigned_type a) { return a; }
#define TW_SIGNED_WIDTHS(type, unsigned_type)                                                                      \
    TW_SIGNED(type, unsigned_type) TW_SIGNED(type##2, unsigned_type##2) TW_SIGNED(type##3, unsigned_type##3)       \
    TW_SIGNED(type##4, unsigned_type##4) TW_SIGNED(type##8, unsigned_type##8) TW_SIGNED(type##16, unsigned_type##16)
#define TW_CHOICE(type, mask_type)                                                                                 \
    TW_BUILTIN type select(type a, type b, mask_type c) { return c ? b : a; }
#define TW_VECTOR_CHOICE(width, type, mask_type)                                                                   \
    TW_BUILTIN type##width select(type##width a, type##width b, mask_type##width c)                                \
    {                                                                                                              \
        return c < (mask_type##width)(0) ? b : a;                                                                                      \
    }
#define TW_UNSIGNED_CHOICE(width, type, mask_type, as_signed)                                                      \
    TW_BUILTIN type##width select(type##width a, type##width b, mask_type##width c)                                \
    {                                                                                                              \
        return __builtin_astype(c, as_signed##width) < (as_signed##width)(0) ? b : a;                                                  \
    }
#define TW_CHOICES(type, own, other)                                                                               \
    TW_CHOICE(type, own) TW_CHOICE(type, other) TW_WIDTHS(TW_VECTOR_CHOICE, type, own)                             \
    TW_WIDTHS(TW_UNSIGNED_CHOICE, type, other, own)

#define TW_INTEGERS(type, unsigned_type, bits, wide, unsigned_wide)                                                \
    TW_ALL_WIDTHS(TW_INTEGER, type) TW_ALL_WIDTHS(TW_INTEGER, unsigned_type)                                       \
    TW_WIDTHS(TW_MIXED, type) TW_WIDTHS(TW_MIXED, unsigned_type)                                                   \
    TW_LEADING(type, unsigned_type, bits, wide) TW_LEADING(unsigned_type, unsigned_type, bits, unsigned_wide)      \
    TW_SIGNED_WIDTHS(type, unsigned_type) TW_CHOICES(type, type, unsigned_type) TW_CHOICES(unsigned_type, type, unsigned_type)
TW_INTEGERS(char, uchar, 8, int, uint)
TW_INTEGERS(short, ushort, 16, int, uint)
TW_INTEGERS(int, uint, 32, long, ulong)
TW_INTEGERS(long, ulong, 64, __int128, unsigned __int128)
TW_CHOICES(float, int, uint)
TW_CHOICES(double, long, ulong)

#define TW_24_BITS(type, cut)                                                                                      \
    TW_BUILTIN type mul24(type a, type b) { return cut(a) * cut(b); }                                              \
    TW_BUILTIN type mad24(type a, type b, type c) { return cut(a) * cut(b) + c; }                                  \
    TW_WIDTHS(TW_EACH2, type, mul24) TW_WIDTHS(TW_EACH3, type, mad24)
#if defined(__AMDGCN__)
#define TW_SIGNED_24(a) ((a) << 8 >> 8)
#define TW_UNSIGNED_24(a) ((a) & 0xffffffu)
#else  // NVIDIA's devices multiply 32 bits at once
#define TW_SIGNED_24(a) (a)
#define TW_UNSIGNED_24(a) (a)
#endif
TW_24_BITS(int, TW_SIGNED_24)
TW_24_BITS(uint, TW_UNSIGNED_24)
TW_BUILTIN ushort upsample(uchar a, uchar b) { return (ushort)(a << 8 | b); }
TW_BUILTIN short upsample(char a, uchar b) { return (short)(a << 8 | b); }
TW_BUILTIN uint upsample(ushort a, ushort b) { return (uint)a << 16 | b; }
TW_BUILTIN int upsample(short a, ushort b) { return (int)a << 16 | b; }
TW_BUILTIN ulong upsample(uint a, uint b) { return (ulong)a << 32 | b; }
TW_BUILTIN long upsample(int a, uint b) { return (long)a << 32 | b; }

// Floating-point numbers by instructions.
#define TW_FLOATING(type)                                                                                          \
    TW_NUMBER(type)                                                                                                \
    TW_BUILTIN type fmin(type a, type b) { return __builtin_elementwise_min(a, b); }                               \
    TW_BUILTIN type fmax(type a, type b) { return __builtin_elementwise_max(a, b); }                               \
    TW_BUILTIN type fma(type a, type b, type c) { return __builtin_elementwise_fma(a, b, c); }                     \
    TW_BUILTIN type mad(type a, type b, type c) { return __builtin_elementwise_fma(a, b, c); }                     \
    TW_BUILTIN type fabs(type a) { return __builtin_elementwise_abs(a); }                                          \
    TW_BUILTIN type sqrt(type a) { return __builtin_elementwise_sqrt(a); }                                         \
    TW_BUILTIN type floor(type a) { return __builtin_elementwise_floor(a); }                                       \
    TW_BUILTIN type ceil(type a) { return __builtin_elementwise_ceil(a); }                                         \
    TW_BUILTIN type trunc(type a) { return __builtin_elementwise_trunc(a); }                                       \
    TW_BUILTIN type rint(type a) { return __builtin_elementwise_rint(a); }                                         \
    TW_BUILTIN type round(type a) { return trunc(a + __builtin_elementwise_copysign((type)0.5f, a)); }             \
    TW_BUILTIN type copysign(type a, type b) { return __builtin_elementwise_copysign(a, b); }                      \
    TW_BUILTIN type fdim(type a, type b) { return max(a - b, (type)0); }                                           \
    TW_BUILTIN type fmod(type a, type b) { return a - b * trunc(a / b); }                                          \
    TW_BUILTIN type mix(type a, type b, type by) { return a + (b - a) * by; }                                      \
    TW_BUILTIN type degrees(type a) { return a * (type)57.29577951308232f; }                                       \
    TW_BUILTIN type radians(type a) { return a * (type)0.017453292519943295f; }                                    \
    TW_BUILTIN type smoothstep(type low, type high, type a)                                                        \
    {                                                                                                              \
        type t = clamp((a - low) / (high - low), (type)0, (type)1);                                                \
        return t * t * ((type)3 - (type)2 * t);                                                                    \
    }                                                                                                              \
    TW_BUILTIN type maxmag(type a, type b) { return max(fabs(a), fabs(b)); }                                       \
    TW_BUILTIN type minmag(type a, type b) { return min(fabs(a), fabs(b)); }
#define TW_FLOATING_MIXED(width, type)                                                                             \
    TW_MIXED(width, type) TW_SECOND_SCALAR(width, type, fmin) TW_SECOND_SCALAR(width, type, fmax)                  \
    TW_BUILTIN type##width mix(type##width a, type##width b, type by) { return a + (b - a) * by; }                 \
    TW_BUILTIN type##width step(type edge, type##width a) { return step((type##width)(edge), a); }                 \
    TW_BUILTIN type##width smoothstep(type low, type high, type##width a)                                          \
    {                                                                                                              \
        return smoothstep((type##width)(low), (type##width)(high), a);                                             \
    }
#define TW_FLOATINGS(type, mask_type)                                                                              \
    TW_ALL_WIDTHS(TW_FLOATING, type)                                                                               \
    TW_BUILTIN type sign(type a) { return a > (type)0 ? (type)1 : a < (type)0 ? (type)-1 : a; }                                            \
    TW_BUILTIN type step(type edge, type a) { return a < edge ? (type)0 : (type)1; }                                           \
    TW_WIDTHS(TW_EACH1, type, sign) TW_WIDTHS(TW_EACH2, type, step)                \
    TW_WIDTHS(TW_FLOATING_MIXED, type)
TW_FLOATINGS(half, short)
TW_FLOATINGS(double, long)
TW_FLOATINGS(float, int)
