// Elementary, relational and geometric functions and conversions, for clang alone.

#define TW_UNARY(type, name, expression)                                                                           \
    TW_BUILTIN type name(type a) { return expression; }                                                            \
    TW_WIDTHS(TW_EACH1, type, name)
#define TW_BINARY(type, name, expression)                                                                          \
    TW_BUILTIN type name(type a, type b) { return expression; }                                                    \
    TW_WIDTHS(TW_EACH2, type, name)
#define TW_POWER(type, name, expression)                                                                           \
    TW_BUILTIN type name(type a, int b) { return expression; }                                                     \
    TW_WIDTHS(TW_WITH_INT, type, name)
// Names that a target's library has for float and for double.
#define TW_OF_LIBRARY(name)                                                                                        \
    float TW_FLOAT_NAME(name)(float) __attribute__((const, nothrow));                                              \
    double TW_DOUBLE_NAME(name)(double) __attribute__((const, nothrow));                                           \
    TW_UNARY(float, name, TW_FLOAT_NAME(name)(a)) TW_UNARY(double, name, TW_DOUBLE_NAME(name)(a))
#define TW_OF_LIBRARY2(name)                                                                                       \
    float TW_FLOAT_NAME(name)(float, float) __attribute__((const, nothrow));                                       \
    double TW_DOUBLE_NAME(name)(double, double) __attribute__((const, nothrow));                                   \
    TW_BINARY(float, name, TW_FLOAT_NAME(name)(a, b)) TW_BINARY(double, name, TW_DOUBLE_NAME(name)(a, b))

#if defined(__NVPTX__)
#define TW_FLOAT_NAME(name) __nv_##name##f
#define TW_DOUBLE_NAME(name) __nv_##name
TW_OF_LIBRARY(exp) TW_OF_LIBRARY(exp2) TW_OF_LIBRARY(exp10) TW_OF_LIBRARY(log) TW_OF_LIBRARY(log2) TW_OF_LIBRARY(log10)
TW_OF_LIBRARY(sin) TW_OF_LIBRARY(cos) TW_OF_LIBRARY(tan) TW_OF_LIBRARY(sinpi) TW_OF_LIBRARY(cospi) TW_OF_LIBRARY(cbrt)
TW_OF_LIBRARY(tanh) TW_OF_LIBRARY2(pow) TW_OF_LIBRARY2(hypot) TW_OF_LIBRARY(expm1) TW_OF_LIBRARY(log1p)
TW_OF_LIBRARY(asin) TW_OF_LIBRARY(acos) TW_OF_LIBRARY(atan) TW_OF_LIBRARY(sinh) TW_OF_LIBRARY(cosh)
TW_OF_LIBRARY(asinh) TW_OF_LIBRARY(acosh) TW_OF_LIBRARY(atanh) TW_OF_LIBRARY(erf) TW_OF_LIBRARY(erfc) TW_OF_LIBRARY2(atan2)
TW_UNARY(float, rsqrt, __nvvm_rsqrt_approx_f(a))
TW_UNARY(double, rsqrt, __nvvm_rsqrt_approx_d(a))
#define TW_NATIVE_SIN __nvvm_sin_approx_f(a)
#define TW_NATIVE_COS __nvvm_cos_approx_f(a)
#define TW_NATIVE_EXP2 __nvvm_ex2_approx_f(a)
#define TW_NATIVE_LOG2 __nvvm_lg2_approx_f(a)
#define TW_NATIVE_RECIP __nvvm_rcp_approx_ftz_f(a)
#define TW_NATIVE_SQRT __nvvm_sqrt_approx_f(a)
#else
#define TW_FLOAT_NAME(name) __ocml_##name##_f32
#define TW_DOUBLE_NAME(name) __ocml_##name##_f64
#define TW_STAND_IN(name, expression)                                                                              \
    double TW_DOUBLE_NAME(name)(double) __attribute__((const, nothrow));                                           \
    TW_UNARY(float, name, expression) TW_UNARY(double, name, TW_DOUBLE_NAME(name)(a))
TW_STAND_IN(exp, __builtin_elementwise_exp(a))
TW_STAND_IN(exp2, __builtin_elementwise_exp2(a))
TW_STAND_IN(exp10, __builtin_elementwise_exp2(a * 3.3219281f))
TW_STAND_IN(log, __builtin_elementwise_log(a))
TW_STAND_IN(log2, __builtin_elementwise_log2(a))
TW_STAND_IN(log10, __builtin_elementwise_log10(a))
TW_STAND_IN(sin, __builtin_elementwise_sin(a))
TW_STAND_IN(cos, __builtin_elementwise_cos(a))
TW_STAND_IN(sinpi, sin(a * M_PI_F))
TW_STAND_IN(cospi, cos(a * M_PI_F))
TW_STAND_IN(tan, sin(a) / cos(a))
TW_STAND_IN(tanh, 1.0f - 2.0f / (exp(2.0f * a) + 1.0f))
TW_STAND_IN(cbrt, copysign(exp2(log2(fabs(a)) * 0.33333333f), a))
TW_STAND_IN(expm1, exp(a) - 1.0f)
TW_STAND_IN(log1p, log(1.0f + a))
TW_STAND_IN(sinh, 0.5f * (exp(a) - exp(-a)))
TW_STAND_IN(cosh, 0.5f * (exp(a) + exp(-a)))
TW_STAND_IN(asinh, log(a + sqrt(a * a + 1.0f)))
TW_STAND_IN(acosh, log(a + sqrt(a * a - 1.0f)))
TW_STAND_IN(atanh, 0.5f * log((1.0f + a) / (1.0f - a)))
// Abramowitz and Stegun: 4.4.49 on [0, 1], 4.4.46 and 7.1.26.
TW_BUILTIN float tw_atan(float a)
{
    const float t = min(fabs(a), 1.0f / fabs(a)), q = t * t;
    float p = fma(q, 0.0208351f, -0.0851330f);
    p = fma(p, q, 0.1801410f), p = fma(p, q, -0.3302995f), p = t * fma(p, q, 0.9998660f);
    return copysign(fabs(a) > 1.0f ? M_PI_2_F - p : p, a);
}
TW_BUILTIN float tw_acos(float a)
{
    const float t = fabs(a);
    float p = fma(t, -0.0012624911f, 0.0066700901f);
    p = fma(p, t, -0.0170881256f), p = fma(p, t, 0.0308918810f), p = fma(p, t, -0.0501743046f);
    p = fma(p, t, 0.0889789874f), p = fma(p, t, -0.2145988016f), p = fma(p, t, 1.5707963050f) * sqrt(1.0f - t);
    return a < 0 ? M_PI_F - p : p;
}
TW_BUILTIN float tw_erf(float a)
{
    const float t = 1.0f / fma(0.3275911f, fabs(a), 1.0f);
    float p = fma(t, 1.061405429f, -1.453152027f);
    p = fma(p, t, 1.421413741f), p = fma(p, t, -0.284496736f), p = t * fma(p, t, 0.254829592f);
    return copysign(1.0f - p * exp(-a * a), a);
}
TW_STAND_IN(atan, tw_atan(a))
TW_STAND_IN(acos, tw_acos(a))
TW_STAND_IN(asin, M_PI_2_F - tw_acos(a))
TW_STAND_IN(erf, tw_erf(a))
TW_STAND_IN(erfc, 1.0f - tw_erf(a))
double __ocml_atan2_f64(double, double) __attribute__((const, nothrow));
TW_BINARY(float, atan2, b > 0 ? atan(a / b) : copysign(M_PI_F, a) + atan(a / b))
TW_BINARY(double, atan2, __ocml_atan2_f64(a, b))
double __ocml_pow_f64(double, double) __attribute__((const, nothrow));
TW_BINARY(float, pow, copysign(exp2(b * log2(fabs(a))), a))
TW_BINARY(double, pow, __ocml_pow_f64(a, b))
TW_BINARY(float, hypot, sqrt(a* a + b * b))
TW_BINARY(double, hypot, sqrt(a* a + b * b))
#if defined(__AMDGCN__)
TW_UNARY(float, rsqrt, __builtin_amdgcn_rsqf(a))
TW_UNARY(double, rsqrt, 1.0 / sqrt(a))
#define TW_NATIVE_SIN __builtin_amdgcn_sinf(a * 0.15915494f)
#define TW_NATIVE_COS __builtin_amdgcn_cosf(a * 0.15915494f)
#define TW_NATIVE_EXP2 __builtin_amdgcn_exp2f(a)
#define TW_NATIVE_LOG2 __builtin_amdgcn_logf(a)
#define TW_NATIVE_RECIP __builtin_amdgcn_rcpf(a)
#define TW_NATIVE_SQRT __builtin_amdgcn_sqrtf(a)
#else
TW_UNARY(float, rsqrt, 1.0f / sqrt(a))
TW_UNARY(double, rsqrt, 1.0 / sqrt(a))
#define TW_NATIVE_SIN sin(a)
#define TW_NATIVE_COS cos(a)
#define TW_NATIVE_EXP2 exp2(a)
#define TW_NATIVE_LOG2 log2(a)
#define TW_NATIVE_RECIP (1.0f / a)
#define TW_NATIVE_SQRT sqrt(a)
#endif
#endif
TW_OF_LIBRARY(tgamma) TW_OF_LIBRARY(lgamma) TW_OF_LIBRARY2(remainder) TW_OF_LIBRARY2(nextafter)
TW_UNARY(float, atanpi, atan(a) * M_1_PI_F)
TW_UNARY(float, asinpi, asin(a) * M_1_PI_F)
TW_UNARY(float, acospi, acos(a) * M_1_PI_F)
TW_BINARY(float, atan2pi, atan2(a, b) * M_1_PI_F)
TW_BINARY(float, powr, exp2(b* log2(a)))
TW_BINARY(double, powr, pow(a, b))
TW_POWER(float, pown, pow(a, (float)b))
TW_POWER(double, pown, pow(a, (double)b))
TW_POWER(float, rootn, pow(a, 1.0f / (float)b))
TW_POWER(float, ldexp, a * exp2((float)b))
TW_POWER(double, ldexp, a * __builtin_astype((ulong)(b + 1023) << 52, double))

// Fast ones: "native" functions are instructions, "half" ones may be.
#define TW_FAST(prefix)                                                                                            \
    TW_UNARY(float, prefix##sin, TW_NATIVE_SIN) TW_UNARY(float, prefix##cos, TW_NATIVE_COS)                        \
    TW_UNARY(float, prefix##tan, prefix##sin(a) / prefix##cos(a)) TW_UNARY(float, prefix##exp2, TW_NATIVE_EXP2)    \
    TW_UNARY(float, prefix##log2, TW_NATIVE_LOG2) TW_UNARY(float, prefix##exp, prefix##exp2(a * M_LOG2E_F))        \
    TW_UNARY(float, prefix##exp10, prefix##exp2(a * 3.3219281f))                                                   \
    TW_UNARY(float, prefix##log, prefix##log2(a) * M_LN2_F)                                                        \
    TW_UNARY(float, prefix##log10, prefix##log2(a) * 0.30103f) TW_UNARY(float, prefix##recip, TW_NATIVE_RECIP)     \
    TW_UNARY(float, prefix##sqrt, TW_NATIVE_SQRT) TW_UNARY(float, prefix##rsqrt, rsqrt(a))                         \
    TW_BINARY(float, prefix##divide, a* prefix##recip(b)) TW_BINARY(float, prefix##powr, prefix##exp2(b * prefix##log2(a)))
TW_FAST(native_)
TW_FAST(half_)

// Results by pointer.
#define TW_BY_POINTER(type, space)                                                                                 \
    TW_BUILTIN type sincos(type a, space type* cosine) { *cosine = cos(a); return sin(a); }                        \
    TW_BUILTIN type fract(type a, space type* whole) { *whole = floor(a); return a - floor(a); }                   \
    TW_BUILTIN type modf(type a, space type* whole) { *whole = trunc(a); return a - trunc(a); }
#define TW_BY_POINTERS(type) TW_BY_POINTER(type, __private) TW_BY_POINTER(type, __global) TW_BY_POINTER(type, __local)
TW_ALL_WIDTHS(TW_BY_POINTERS, float)
TW_ALL_WIDTHS(TW_BY_POINTERS, double)

// Relations: 1 for scalars, -1 for elements of vectors.
#define TW_RELATION(type, mask_type, name, expression)                                                             \
    TW_BUILTIN int name(type a, type b) { return expression; }                                                     \
    TW_WIDTHS(TW_VECTOR_RELATION, type, mask_type, name, expression)
#define TW_VECTOR_RELATION(width, type, mask_type, name, expression)                                               \
    TW_BUILTIN mask_type##width name(type##width a, type##width b) { return expression; }
#define TW_QUESTION(type, mask_type, name, expression)                                                             \
    TW_BUILTIN int name(type a) { return expression; }                                                             \
    TW_WIDTHS(TW_VECTOR_QUESTION, type, mask_type, name, expression)
#define TW_VECTOR_QUESTION(width, type, mask_type, name, expression)                                               \
    TW_BUILTIN mask_type##width name(type##width a) { return expression; }
#define TW_RELATIONS(type, mask_type)                                                                              \
    TW_RELATION(type, mask_type, isequal, a == b) TW_RELATION(type, mask_type, isnotequal, a != b)                 \
    TW_RELATION(type, mask_type, isgreater, a > b) TW_RELATION(type, mask_type, isgreaterequal, a >= b)            \
    TW_RELATION(type, mask_type, isless, a < b) TW_RELATION(type, mask_type, islessequal, a <= b)                  \
    TW_RELATION(type, mask_type, islessgreater, (a < b) | (a > b))                                                 \
    TW_RELATION(type, mask_type, isordered, (a == a) & (b == b))                                                   \
    TW_RELATION(type, mask_type, isunordered, (a != a) | (b != b))                                                 \
    TW_QUESTION(type, mask_type, isnan, a != a) TW_QUESTION(type, mask_type, isfinite, fabs(a) < (type)INFINITY)   \
    TW_QUESTION(type, mask_type, isinf, fabs(a) == (type)INFINITY)
TW_RELATIONS(float, int)
TW_RELATIONS(double, long)
TW_BUILTIN int signbit(float a) { return as_uint(a) >> 31; }
#define TW_ANY(type)                                                                                               \
    TW_BUILTIN int any(type a) { return a < 0; }                                                                   \
    TW_BUILTIN int all(type a) { return a < 0; }                                                                   \
    TW_WIDTHS(TW_VECTOR_ANY, type)
#define TW_VECTOR_ANY(width, type)                                                                                 \
    TW_BUILTIN int any(type##width a) { return __builtin_reduce_or(a) < 0; }                                       \
    TW_BUILTIN int all(type##width a) { return __builtin_reduce_and(a) < 0; }
TW_ANY(char) TW_ANY(short) TW_ANY(int) TW_ANY(long)

// Geometry.
#define TW_GEOMETRY(type, vector, sum)                                                                             \
    TW_BUILTIN type dot(vector a, vector b) { return sum; }                                                        \
    TW_BUILTIN type length(vector a) { return sqrt(dot(a, a)); }                                                   \
    TW_BUILTIN type distance(vector a, vector b) { return length(a - b); }                                         \
    TW_BUILTIN vector normalize(vector a) { return a * rsqrt(dot(a, a)); }                                         \
    TW_BUILTIN type fast_length(vector a) { return sqrt(dot(a, a)); }                                              \
    TW_BUILTIN type fast_distance(vector a, vector b) { return length(a - b); }                                    \
    TW_BUILTIN vector fast_normalize(vector a) { return a * rsqrt(dot(a, a)); }
#define TW_GEOMETRIES(type)                                                                                        \
    TW_GEOMETRY(type, type, a * b)                                                                                 \
    TW_GEOMETRY(type, type##2, a.x * b.x + a.y * b.y)                                                              \
    TW_GEOMETRY(type, type##3, a.x * b.x + a.y * b.y + a.z * b.z)                                                  \
    TW_GEOMETRY(type, type##4, a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w)                                      \
    TW_BUILTIN type##3 cross(type##3 a, type##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }                       \
    TW_BUILTIN type##4 cross(type##4 a, type##4 b)                                                                 \
    {                                                                                                              \
        return (type##4)(a.yzx * b.zxy - a.zxy * b.yzx, (type)0);                                                  \
    }
TW_GEOMETRIES(float)
TW_GEOMETRIES(double)
