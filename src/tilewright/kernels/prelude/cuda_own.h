// More of OpenCL C's words in CUDA, after those of cuda.h: what kernels of users' own take from OpenCL's compilers.
//
// Vectors of three are left without a body: CUDA's own would be taken for them, and have 12 bytes where OpenCL's have 16.

#define __const const
#define __constant __constant__
#define of_constant // of what a pointer points to; not "constant", which CUDA's own __constant__ is made of
#define __OPENCL_VERSION__ 120
#define __OPENCL_C_VERSION__ 120
#define CL_VERSION_1_0 100
#define CL_VERSION_1_1 110
#define CL_VERSION_1_2 120
#define __ENDIAN_LITTLE__ 1
#define cl_khr_fp64 1
#define cl_khr_byte_addressable_store 1
#define cl_khr_global_int32_base_atomics 1
#define cl_khr_global_int32_extended_atomics 1
#define cl_khr_local_int32_base_atomics 1
#define cl_khr_local_int32_extended_atomics 1

#define NO_VECTOR_OF_THREE(name) struct name##3;
NO_VECTOR_OF_THREE(char)
NO_VECTOR_OF_THREE(uchar)
NO_VECTOR_OF_THREE(short)
NO_VECTOR_OF_THREE(ushort)
NO_VECTOR_OF_THREE(int)
NO_VECTOR_OF_THREE(uint)
NO_VECTOR_OF_THREE(long)
NO_VECTOR_OF_THREE(ulong)
NO_VECTOR_OF_THREE(float)
NO_VECTOR_OF_THREE(double)

// Numbers, as OpenCL C 1.2 has them.

#define MAXFLOAT 0x1.fffffep127f
#define HUGE_VALF __int_as_float(0x7f800000)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000)
#define M_E_F 2.71828182845904523536028747135266250f
#define M_LOG2E_F 1.44269504088896340735992468100189214f
#define M_LOG10E_F 0.434294481903251827651128918916605082f
#define M_LN2_F 0.693147180559945309417232121458176568f
#define M_LN10_F 2.30258509299404568401799145468436421f
#define M_PI_F 3.14159265358979323846264338327950288f
#define M_PI_2_F 1.57079632679489661923132169163975144f
#define M_PI_4_F 0.785398163397448309615660845819875721f
#define M_1_PI_F 0.318309886183790671537767526745028724f
#define M_2_PI_F 0.636619772367581343075535053490057448f
#define M_2_SQRTPI_F 1.12837916709551257389615890312154517f
#define M_SQRT2_F 1.41421356237309504880168872420969808f
#define M_SQRT1_2_F 0.707106781186547524400844362104849039f
#define M_E 2.71828182845904523536028747135266250
#define M_LOG2E 1.44269504088896340735992468100189214
#define M_LOG10E 0.434294481903251827651128918916605082
#define M_LN2 0.693147180559945309417232121458176568
#define M_LN10 2.30258509299404568401799145468436421
#define M_PI 3.14159265358979323846264338327950288
#define M_PI_2 1.57079632679489661923132169163975144
#define M_PI_4 0.785398163397448309615660845819875721
#define M_1_PI 0.318309886183790671537767526745028724
#define M_2_PI 0.636619772367581343075535053490057448
#define M_2_SQRTPI 1.12837916709551257389615890312154517
#define M_SQRT2 1.41421356237309504880168872420969808
#define M_SQRT1_2 0.707106781186547524400844362104849039
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1.0p-1022
#define DBL_EPSILON 0x1.0p-52
#define CHAR_BIT 8
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 0xffffffffU
#define LONG_MIN (-0x7fffffffffffffffL - 1)
#define LONG_MAX 0x7fffffffffffffffL
#define ULONG_MAX 0xffffffffffffffffUL

// Vectors made of scalars and vectors: cuda_words.py writes made<float4>::of(x, y) where OpenCL C has (float4)(x, y), and
// made<float4>()->*x where it has (float4)x.

template <typename T, int width> INLINE T& element(vector_of<T, width>& v, int i) { return ((T*)&v)[i]; }

template <typename A> struct width_of { static const int value = 1; };
template <typename T, int width> struct width_of<vector_of<T, width>> { static const int value = width; };

template <typename T, typename A> INLINE T* put(T* at, A a) { return *at = T(a), at + 1; }
template <typename T, int width> INLINE T* put(T* at, vector_of<T, width> a)
{
    for (int i = 0; i < width; ++i) at[i] = element(a, i);
    return at + width;
}

template <typename V> struct made;
template <typename T, int width> struct made<vector_of<T, width>>
{
    typedef vector_of<T, width> V;
    static __device__ __forceinline__ V of(V v) { return v; }
    template <typename A> static __device__ __forceinline__ V of(A a)
    {
        static_assert(width_of<A>::value == 1, "a vector of another type or width is converted by convert_...");
        return elements_of<V>::all(T(a));
    }
    template <typename A, typename... More> static __device__ __forceinline__ V of(A a, More... more)
    {
        static_assert(width_of<A>::value + (width_of<More>::value + ...) == width, "as many elements as the vector has");
        V v;
        T* at = put((T*)&v, a);
        ((at = put(at, more)), ...);
        return v;
    }
    template <typename A> __device__ __forceinline__ V operator->*(A a) { return of(a); }
};

OPERATOR(|)
OPERATOR(^)
OPERATOR(%)
OPERATOR(<<)
OPERATOR(>>)
template <typename T, int width> INLINE vector_of<T, width> operator-(vector_of<T, width> a)
{
    for (int i = 0; i < width; ++i) element(a, i) = -element(a, i);
    return a;
}
template <typename T, int width> INLINE vector_of<T, width> operator~(vector_of<T, width> a)
{
    for (int i = 0; i < width; ++i) element(a, i) = ~element(a, i);
    return a;
}

// Functions of numbers, then the same of each element of vectors. A second or third argument may be a number for all.

#define OF_ONE(name)                                                                                                    \
    template <typename T, int width> INLINE auto name(vector_of<T, width> a)                                            \
    {                                                                                                                   \
        vector_of<decltype(name(T())), width> r;                                                                        \
        for (int i = 0; i < width; ++i) element(r, i) = name(element(a, i));                                            \
        return r;                                                                                                       \
    }
#define OF_TWO(name)                                                                                                    \
    template <typename T, int width> INLINE auto name(vector_of<T, width> a, vector_of<T, width> b)                     \
    {                                                                                                                   \
        vector_of<decltype(name(T(), T())), width> r;                                                                   \
        for (int i = 0; i < width; ++i) element(r, i) = name(element(a, i), element(b, i));                             \
        return r;                                                                                                       \
    }
#define OR_NUMBER(name)                                                                                                 \
    template <typename T, int width> INLINE vector_of<T, width> name(vector_of<T, width> a, typename plain<T>::type b)  \
    {                                                                                                                   \
        return name(a, elements_of<vector_of<T, width>>::all(b));                                                       \
    }
#define OF_THREE(name)                                                                                                  \
    template <typename T, int width>                                                                                    \
    INLINE vector_of<T, width> name(vector_of<T, width> a, vector_of<T, width> b, vector_of<T, width> c)                \
    {                                                                                                                   \
        for (int i = 0; i < width; ++i) element(a, i) = name(element(a, i), element(b, i), element(c, i));              \
        return a;                                                                                                       \
    }
#define FROM_CUDA(name) using ::name; OF_ONE(name)
#define TWO_FROM_CUDA(name) using ::name; OF_TWO(name)

FROM_CUDA(acos) FROM_CUDA(acosh) FROM_CUDA(asin) FROM_CUDA(asinh) FROM_CUDA(atan) FROM_CUDA(atanh) FROM_CUDA(cbrt)
FROM_CUDA(ceil) FROM_CUDA(cos) FROM_CUDA(cosh) FROM_CUDA(cospi) FROM_CUDA(erf) FROM_CUDA(erfc) FROM_CUDA(exp) FROM_CUDA(exp2)
FROM_CUDA(exp10) FROM_CUDA(expm1) FROM_CUDA(fabs) FROM_CUDA(floor) FROM_CUDA(lgamma) FROM_CUDA(log) FROM_CUDA(log2)
FROM_CUDA(log10) FROM_CUDA(log1p) FROM_CUDA(logb) FROM_CUDA(rint) FROM_CUDA(round) FROM_CUDA(rsqrt) FROM_CUDA(sin)
FROM_CUDA(sinh) FROM_CUDA(sinpi) FROM_CUDA(sqrt) FROM_CUDA(tan) FROM_CUDA(tanh) FROM_CUDA(tgamma) FROM_CUDA(trunc)
TWO_FROM_CUDA(atan2) TWO_FROM_CUDA(copysign) TWO_FROM_CUDA(fdim) TWO_FROM_CUDA(fmax) TWO_FROM_CUDA(fmin) TWO_FROM_CUDA(fmod)
TWO_FROM_CUDA(hypot) TWO_FROM_CUDA(nextafter) TWO_FROM_CUDA(pow) TWO_FROM_CUDA(remainder)
OR_NUMBER(fmax) OR_NUMBER(fmin)
using ::fma;
OF_THREE(fma)
OF_THREE(mad)

INLINE float powr(float a, float b) { return pow(a, b); }
INLINE double powr(double a, double b) { return pow(a, b); }
INLINE float pown(float a, int b) { return pow(a, float(b)); }  // in double, an int would make it that
INLINE double pown(double a, int b) { return pow(a, double(b)); }
OF_TWO(powr)
INLINE float sincos(float a, float* cosine)
{
    float sine;
    sincosf(a, &sine, cosine);
    return sine;
}
INLINE double sincos(double a, double* cosine)
{
    double sine;
    ::sincos(a, &sine, cosine);
    return sine;
}

// native_ functions are NVIDIA's instructions. Those of half_ whose instructions err too much are the full functions.

#define APPROXIMATE(name, instruction)                                                                                  \
    INLINE float name(float a)                                                                                          \
    {                                                                                                                   \
        float r;                                                                                                        \
        asm(instruction " %0, %1;" : "=f"(r) : "f"(a));                                                                 \
        return r;                                                                                                       \
    }                                                                                                                   \
    OF_ONE(name)
#define NAMED(name, of)                                                                                                 \
    INLINE float name(float a) { return of(a); }                                                                        \
    OF_ONE(name)
APPROXIMATE(native_exp2, "ex2.approx.f32")
APPROXIMATE(native_log2, "lg2.approx.f32")
APPROXIMATE(native_recip, "rcp.approx.f32")
APPROXIMATE(native_rsqrt, "rsqrt.approx.f32")
APPROXIMATE(native_sqrt, "sqrt.approx.f32")
NAMED(native_cos, __cosf)
NAMED(native_exp, __expf)
NAMED(native_exp10, __exp10f)
NAMED(native_log, __logf)
NAMED(native_log10, __log10f)
NAMED(native_sin, __sinf)
NAMED(native_tan, __tanf)
INLINE float native_divide(float a, float b) { return __fdividef(a, b); }
INLINE float native_powr(float a, float b) { return __powf(a, b); }
OF_TWO(native_divide)
OF_TWO(native_powr)
NAMED(half_cos, cos)
NAMED(half_exp, exp)
NAMED(half_exp2, exp2)
NAMED(half_exp10, exp10)
NAMED(half_log, log)
NAMED(half_log2, log2)
NAMED(half_log10, log10)
NAMED(half_recip, native_recip)
NAMED(half_rsqrt, native_rsqrt)
NAMED(half_sin, sin)
NAMED(half_sqrt, native_sqrt)
NAMED(half_tan, tan)
INLINE float half_divide(float a, float b) { return a / b; }
INLINE float half_powr(float a, float b) { return pow(a, b); }
OF_TWO(half_divide)
OF_TWO(half_powr)

template <typename T> INLINE vector_of<T, 2> max(vector_of<T, 2> a, vector_of<T, 2> b) { return {max(a.x, b.x), max(a.y, b.y)}; }
template <typename T, int width> INLINE vector_of<T, width> max(vector_of<T, width> a, vector_of<T, width> b)
{
    return {max(a.lo, b.lo), max(a.hi, b.hi)};
}
template <typename T, int width> INLINE vector_of<T, width> min(vector_of<T, width> a, vector_of<T, width> b)
{
    for (int i = 0; i < width; ++i) element(a, i) = min(element(a, i), element(b, i));
    return a;
}
OR_NUMBER(max)
OR_NUMBER(min)

template <typename T> INLINE T clamp(T a, typename plain<T>::type low, typename plain<T>::type high)
{
    return min(max(a, low), high);
}

#define OF_FLOATS(type)                                                                                                 \
    INLINE type clamp(type a, type low, type high) { return fmin(fmax(a, low), high); }                                 \
    INLINE type mix(type a, type b, type t) { return a + (b - a) * t; }                                                 \
    INLINE type step(type edge, type a) { return a < edge ? type(0) : type(1); }                                        \
    INLINE type sign(type a) { return a > 0 ? type(1) : a < 0 ? type(-1) : a == 0 ? a : type(0); }                      \
    INLINE type degrees(type a) { return type(57.295779513082320876798154814105) * a; }                                 \
    INLINE type radians(type a) { return type(0.017453292519943295769236907684886) * a; }                               \
    INLINE type smoothstep(type low, type high, type a)                                                                 \
    {                                                                                                                   \
        const type t = clamp((a - low) / (high - low), 0, 1);                                                           \
        return t * t * (3 - 2 * t);                                                                                     \
    }                                                                                                                   \
    INLINE type dot(type a, type b) { return a * b; }                                                                   \
    INLINE type dot(vector_of<type, 2> a, vector_of<type, 2> b) { return a.x * b.x + a.y * b.y; }                       \
    INLINE int isequal(type a, type b) { return a == b; }                                                               \
    INLINE int isnotequal(type a, type b) { return a != b; }                                                            \
    INLINE int isgreater(type a, type b) { return a > b; }                                                              \
    INLINE int isgreaterequal(type a, type b) { return a >= b; }                                                        \
    INLINE int isless(type a, type b) { return a < b; }                                                                 \
    INLINE int islessequal(type a, type b) { return a <= b; }                                                           \
    INLINE int islessgreater(type a, type b) { return a < b || a > b; }                                                 \
    INLINE int isordered(type a, type b) { return a == a && b == b; }                                                   \
    INLINE int isunordered(type a, type b) { return a != a || b != b; }                                                 \
    INLINE int isnan(type a) { return a != a; }                                                                         \
    INLINE int isinf(type a) { return fabs(a) == type(INFINITY); }                                                      \
    INLINE int isfinite(type a) { return fabs(a) < type(INFINITY); }
OF_FLOATS(float)
OF_FLOATS(double)
template <typename T, int width>
INLINE vector_of<T, width> clamp(vector_of<T, width> a, typename plain<T>::type low, typename plain<T>::type high)
{
    for (int i = 0; i < width; ++i) element(a, i) = clamp(element(a, i), low, high);
    return a;
}
OF_THREE(clamp)
OF_ONE(degrees)
OF_ONE(radians)
OF_ONE(sign)
OF_THREE(mix)
template <typename T, int width>
INLINE vector_of<T, width> mix(vector_of<T, width> a, vector_of<T, width> b, typename plain<T>::type t)
{
    return a + (b - a) * t;
}
template <typename T, int width> INLINE T length(vector_of<T, width> a) { return sqrt(dot(a, a)); }
template <typename T, int width> INLINE T distance(vector_of<T, width> a, vector_of<T, width> b) { return length(a - b); }
template <typename T, int width> INLINE vector_of<T, width> normalize(vector_of<T, width> a) { return a * rsqrt(dot(a, a)); }
template <typename T, typename C> INLINE T select(T a, T b, C condition)
{
    static_assert(width_of<T>::value == 1 && sizeof(C) == sizeof(T), "select(a, b, c) of numbers of one size");
    return condition ? b : a;
}
template <typename T, typename C, int width>
INLINE vector_of<T, width> select(vector_of<T, width> a, vector_of<T, width> b, vector_of<C, width> condition)
{
    static_assert(sizeof(C) == sizeof(T), "select(a, b, c) of vectors of one size");
    for (int i = 0; i < width; ++i) element(a, i) = element(condition, i) >> (8 * sizeof(C) - 1) ? element(b, i) : element(a, i);
    return a;
}

// Integers.

template <typename T> struct unsigned_of { typedef T type; };
template <> struct unsigned_of<char> { typedef uchar type; };
template <> struct unsigned_of<short> { typedef ushort type; };
template <> struct unsigned_of<int> { typedef uint type; };
template <> struct unsigned_of<long> { typedef ulong type; };
template <typename T> INLINE typename unsigned_of<T>::type abs(T a)
{
    typedef typename unsigned_of<T>::type U;
    static_assert(T(0.5) == T(0), "abs is of integers, fabs of floating-point numbers");
    if constexpr (T(-1) < T(0)) return a < T(0) ? U(-U(a)) : U(a);
    else return a;
}
#define OF_INTEGERS(T)                                                                                                  \
    INLINE unsigned_of<T>::type abs_diff(T a, T b)                                                                      \
    {                                                                                                                   \
        return a < b ? (unsigned_of<T>::type)b - (unsigned_of<T>::type)a                                                \
                     : (unsigned_of<T>::type)a - (unsigned_of<T>::type)b;                                               \
    }                                                                                                                   \
    INLINE T popcount(T a) { return __popcll((unsigned_of<T>::type)a); }                                                \
    INLINE T rotate(T a, T by)                                                                                          \
    {                                                                                                                   \
        const unsigned_of<T>::type bits = a;                                                                            \
        const int left = by & (8 * sizeof(T) - 1), right = -left & (8 * sizeof(T) - 1);                                 \
        return bits << left | bits >> right;                                                                            \
    }
OF_INTEGERS(char)
OF_INTEGERS(uchar)
OF_INTEGERS(short)
OF_INTEGERS(ushort)
OF_INTEGERS(int)
OF_INTEGERS(uint)
OF_INTEGERS(long)
OF_INTEGERS(ulong)
INLINE char clz(char a) { return __clz((uchar)a) - 24; }
INLINE uchar clz(uchar a) { return __clz(a) - 24; }
INLINE short clz(short a) { return __clz((ushort)a) - 16; }
INLINE ushort clz(ushort a) { return __clz(a) - 16; }
INLINE int clz(int a) { return __clz(a); }
INLINE long clz(long a) { return __clzll(a); }
INLINE ulong clz(ulong a) { return __clzll(a); }
INLINE int mul24(int a, int b) { return __mul24(a, b); }
INLINE uint mul24(uint a, uint b) { return __umul24(a, b); }
INLINE int mad24(int a, int b, int c) { return __mul24(a, b) + c; }
INLINE uint mad24(uint a, uint b, uint c) { return __umul24(a, b) + c; }
INLINE int mul_hi(int a, int b) { return __mulhi(a, b); }
INLINE uint mul_hi(uint a, uint b) { return __umulhi(a, b); }
INLINE long mul_hi(long a, long b) { return __mul64hi(a, b); }
INLINE ulong mul_hi(ulong a, ulong b) { return __umul64hi(a, b); }
template <typename T> INLINE T mad_hi(T a, T b, T c) { return mul_hi(a, b) + c; }
INLINE int hadd(int a, int b) { return __hadd(a, b); }
INLINE uint hadd(uint a, uint b) { return __uhadd(a, b); }
INLINE int rhadd(int a, int b) { return __rhadd(a, b); }
INLINE uint rhadd(uint a, uint b) { return __urhadd(a, b); }
OF_ONE(abs)
OF_ONE(popcount)
OF_ONE(clz)
OF_TWO(abs_diff)
OF_TWO(rotate)

// Conversions. A floating-point number is rounded to zero, unless the name says otherwise.

#define IS_FLOAT(T) (T(0.5) != T(0))
#define ROUNDING(name, function)                                                                                        \
    struct name                                                                                                         \
    {                                                                                                                   \
        template <typename T> static __device__ __forceinline__ T of(T a)                                               \
        {                                                                                                               \
            if constexpr (IS_FLOAT(T)) return function(a);                                                              \
            else return a;                                                                                              \
        }                                                                                                               \
    };
ROUNDING(to_zero, trunc)
ROUNDING(to_even, rint)
ROUNDING(upwards, ceil)
ROUNDING(downwards, floor)
struct as_it_is { template <typename T> static __device__ __forceinline__ T of(T a) { return a; } };

template <typename To, typename From> INLINE To saturated(From a)
{
    constexpr bool has_sign = To(-1) < To(0);
    const To least = has_sign ? To(To(1) << (8 * sizeof(To) - 1)) : To(0), most = ~least;
    if constexpr (IS_FLOAT(From)) {
        const From beyond = From(most / 2 + 1) * From(2);  // a power of two, which both hold
        return a != a ? To(0) : a < From(least) ? least : a >= beyond ? most : To(a);
    }
    else {
        if constexpr (From(-1) < From(0))
            if (a < From(0)) return !has_sign || long(a) < long(least) ? least : To(a);
        return ulong(a) > ulong(most) ? most : To(a);
    }
}

template <typename To, typename Rounding, bool saturate> struct conversion
{
    template <typename From> static __device__ __forceinline__ To of(From a)
    {
        if constexpr (saturate) return saturated<To>(Rounding::of(a));
        else return To(Rounding::of(a));
    }
};
template <typename To, int width, typename Rounding, bool saturate> struct conversion<vector_of<To, width>, Rounding, saturate>
{
    template <typename From> static __device__ __forceinline__ vector_of<To, width> of(vector_of<From, width> a)
    {
        vector_of<To, width> r;
        for (int i = 0; i < width; ++i) element(r, i) = conversion<To, Rounding, saturate>::of(element(a, i));
        return r;
    }
};
#define CONVERSION(type, suffix, rounding, saturate)                                                                    \
    template <typename From> INLINE type convert_##type##suffix(From a)                                                 \
    {                                                                                                                   \
        return conversion<type, rounding, saturate>::of(a);                                                             \
    }
#define TO_INTEGERS(type)                                                                                               \
    CONVERSION(type, , as_it_is, false) CONVERSION(type, _rtz, to_zero, false) CONVERSION(type, _rte, to_even, false)    \
    CONVERSION(type, _rtp, upwards, false) CONVERSION(type, _rtn, downwards, false)                                     \
    CONVERSION(type, _sat, to_zero, true) CONVERSION(type, _sat_rtz, to_zero, true) CONVERSION(type, _sat_rte, to_even, true) \
    CONVERSION(type, _sat_rtp, upwards, true) CONVERSION(type, _sat_rtn, downwards, true)
#define TO_FLOATS(type) CONVERSION(type, , as_it_is, false) CONVERSION(type, _rte, as_it_is, false)
#define OF_WIDTHS(to, type) to(type) to(type##2) to(type##4) to(type##8) to(type##16)
OF_WIDTHS(TO_INTEGERS, char)
OF_WIDTHS(TO_INTEGERS, uchar)
OF_WIDTHS(TO_INTEGERS, short)
OF_WIDTHS(TO_INTEGERS, ushort)
OF_WIDTHS(TO_INTEGERS, int)
OF_WIDTHS(TO_INTEGERS, uint)
OF_WIDTHS(TO_INTEGERS, long)
OF_WIDTHS(TO_INTEGERS, ulong)
OF_WIDTHS(TO_FLOATS, float)
OF_WIDTHS(TO_FLOATS, double)

// fp16 in memory, aligned to one element.

INLINE void vstore_half(float v, size_t i, half* p) { vstore_half_rte(v, i, p); }
#define FP16_VECTORS(width)                                                                                             \
    INLINE float##width vload_half##width(size_t i, const half* p)                                                      \
    {                                                                                                                   \
        float##width r;                                                                                                 \
        for (int j = 0; j < width; ++j) element(r, j) = vload_half(width * i + j, p);                                   \
        return r;                                                                                                       \
    }                                                                                                                   \
    INLINE void vstore_half##width##_rte(float##width v, size_t i, half* p)                                             \
    {                                                                                                                   \
        for (int j = 0; j < width; ++j) vstore_half_rte(element(v, j), width * i + j, p);                               \
    }                                                                                                                   \
    INLINE void vstore_half##width(float##width v, size_t i, half* p) { vstore_half##width##_rte(v, i, p); }
FP16_VECTORS(2)
FP16_VECTORS(4)
FP16_VECTORS(8)
FP16_VECTORS(16)
INLINE void vstorea_half2(float2 v, size_t i, half* p) { vstorea_half2_rte(v, i, p); }
INLINE void vstorea_half4(float4 v, size_t i, half* p) { vstorea_half4_rte(v, i, p); }
INLINE void vstorea_half8(float8 v, size_t i, half* p) { vstorea_half8_rte(v, i, p); }

// Atomic functions, under both of their names, and fences.

template <typename T> struct word_of_cuda { typedef T bits, number; };
template <> struct word_of_cuda<long> { typedef unsigned long long bits; typedef long long number; };
template <> struct word_of_cuda<ulong> { typedef unsigned long long bits, number; };
#define ATOMIC_AS(name, cuda, kind)                                                                                     \
    template <typename T> INLINE T name(volatile T* p, typename plain<T>::type v)                                       \
    {                                                                                                                   \
        typedef typename word_of_cuda<T>::kind word;                                                                    \
        return T(cuda((word*)p, word(v)));                                                                              \
    }
#define ATOMIC(name, cuda, kind) ATOMIC_AS(atomic_##name, cuda, kind) ATOMIC_AS(atom_##name, cuda, kind)
ATOMIC(add, atomicAdd, bits)
ATOMIC(and, atomicAnd, bits)
ATOMIC(or, atomicOr, bits)
ATOMIC(xor, atomicXor, bits)
ATOMIC(xchg, atomicExch, bits)
ATOMIC(min, atomicMin, number)
ATOMIC(max, atomicMax, number)
template <typename T> INLINE T atomic_sub(volatile T* p, typename plain<T>::type v) { return atomic_add(p, T(0 - v)); }
template <typename T> INLINE T atomic_inc(volatile T* p) { return atomic_add(p, 1); }
template <typename T> INLINE T atomic_dec(volatile T* p) { return atomic_add(p, T(-1)); }
template <typename T> INLINE T atomic_cmpxchg(volatile T* p, typename plain<T>::type old, typename plain<T>::type v)
{
    typedef typename word_of_cuda<T>::bits word;
    return T(atomicCAS((word*)p, word(old), word(v)));
}
template <typename T> INLINE T atom_sub(volatile T* p, typename plain<T>::type v) { return atomic_sub(p, v); }
template <typename T> INLINE T atom_inc(volatile T* p) { return atomic_inc(p); }
template <typename T> INLINE T atom_dec(volatile T* p) { return atomic_dec(p); }
template <typename T> INLINE T atom_cmpxchg(volatile T* p, typename plain<T>::type old, typename plain<T>::type v)
{
    return atomic_cmpxchg(p, old, v);
}
INLINE void mem_fence(int) { __threadfence(); }
INLINE void read_mem_fence(int) { __threadfence(); }
INLINE void write_mem_fence(int) { __threadfence(); }
