// What makes CUDA C++ understand the kernels: OpenCL C's words, as far as they use them, and the macros of opencl.cl.
//
// All of it and the kernel lie in a namespace, where float4 is OpenCL's, with arithmetic, and not CUDA's; the renderer
// closes it at the end of the program. A pointer of CUDA has no address space, but a variable has: so the kernels write
// __local for what lies in local memory, and local for what a pointer points to, which mean the same in OpenCL C. C++ takes
// (int2)(x, y) for another thing: so they write MAKE2(int, x, y).
//
// The renderer defines REAL, REAL_IS_INTEGER and REAL_IS_DOUBLE before it, as for opencl.cl.

namespace opencl {

#define INLINE __device__ __forceinline__
#define __kernel extern "C" __global__
#define reqd_work_group_size(x, y, z) launch_bounds((x) * (y) * (z)) // __attribute__ stands before it
#define __global
#define __local __shared__
#define local
#define __private
#define restrict __restrict__
#define FP_FAST_FMAF 1

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "OpenCL's long has 64 bits; this compiler's has fewer");
static_assert((char)-1 < 0, "OpenCL's char has a sign; this compiler's has none");

// Work-items: dimension 0, 1 and 2 are CUDA's x, y and z.

INLINE size_t of_dimension(uint dimension, uint3 values)
{
    return dimension == 0 ? values.x : dimension == 1 ? values.y : values.z;
}

INLINE size_t get_local_id(uint dimension) { return of_dimension(dimension, threadIdx); }
INLINE size_t get_group_id(uint dimension) { return of_dimension(dimension, blockIdx); }
INLINE size_t get_local_size(uint dimension) { return of_dimension(dimension, {blockDim.x, blockDim.y, blockDim.z}); }
INLINE size_t get_num_groups(uint dimension) { return of_dimension(dimension, {gridDim.x, gridDim.y, gridDim.z}); }
INLINE size_t get_global_size(uint dimension) { return get_num_groups(dimension) * get_local_size(dimension); }

INLINE size_t get_global_id(uint dimension)
{
    return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
}

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
INLINE void barrier(int) { __syncthreads(); }
INLINE int atomic_inc(volatile int* counter) { return atomicAdd((int*)counter, 1); }

template <typename To, typename From> INLINE To bits_as(From value)
{
    static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
    union { From from; To to; } both;
    both.from = value;
    return both.to;
}

// Vectors of 2, 4, 8 and 16. Those of 8 and 16 consist of halves, so that all that is done to a vector is written once
// for 2 and 4, and once for the rest.

template <typename T, int width> struct alignas(width * sizeof(T)) vector_of { vector_of<T, width / 2> lo, hi; };
template <typename T> struct alignas(2 * sizeof(T)) vector_of<T, 2> { T x, y; };
template <typename T> struct alignas(4 * sizeof(T)) vector_of<T, 4>
{
    T x, y, z, w;

    // To volatile memory: one store of four registers, as in OpenCL C.
    template <typename V> __device__ void operator=(V v) volatile
    {
        static_assert(sizeof(T) == 4, "a vector that is stored to volatile memory has elements of 4 bytes");
        asm volatile("st.volatile.v4.b32 [%0], {%1, %2, %3, %4};"
                     ::"l"(this), "r"(bits_as<uint>(v.x)), "r"(bits_as<uint>(v.y)), "r"(bits_as<uint>(v.z)), "r"(bits_as<uint>(v.w))
                     : "memory");
    }
};

template <typename T> struct plain { typedef T type; };  // plain<T>::type is T, which is not deduced from an argument

template <typename V> struct elements_of;  // of a vector type: the type of its elements, and a vector of equal ones
template <typename T> struct elements_of<vector_of<T, 2>> { static __device__ vector_of<T, 2> all(T a) { return {a, a}; } };
template <typename T> struct elements_of<vector_of<T, 4>> { static __device__ vector_of<T, 4> all(T a) { return {a, a, a, a}; } };
template <typename T, int width> struct elements_of<vector_of<T, width>>
{
    typedef elements_of<vector_of<T, width / 2>> half_of;
    static __device__ vector_of<T, width> all(T a) { return {half_of::all(a), half_of::all(a)}; }
};

#define OPERATOR(op)                                                                                                    \
    template <typename T> INLINE vector_of<T, 2> operator op(vector_of<T, 2> a, vector_of<T, 2> b)                      \
    {                                                                                                                   \
        return {T(a.x op b.x), T(a.y op b.y)};                                                                          \
    }                                                                                                                   \
    template <typename T> INLINE vector_of<T, 4> operator op(vector_of<T, 4> a, vector_of<T, 4> b)                      \
    {                                                                                                                   \
        return {T(a.x op b.x), T(a.y op b.y), T(a.z op b.z), T(a.w op b.w)};                                            \
    }                                                                                                                   \
    template <typename T, int width>                                                                                    \
    INLINE vector_of<T, width> operator op(vector_of<T, width> a, vector_of<T, width> b)                                \
    {                                                                                                                   \
        return {a.lo op b.lo, a.hi op b.hi};                                                                            \
    }                                                                                                                   \
    template <typename T, int width>                                                                                    \
    INLINE vector_of<T, width> operator op(vector_of<T, width> a, typename plain<T>::type b)                            \
    {                                                                                                                   \
        return a op elements_of<vector_of<T, width>>::all(b);                                                           \
    }                                                                                                                   \
    template <typename T, int width>                                                                                    \
    INLINE vector_of<T, width> operator op(typename plain<T>::type a, vector_of<T, width> b)                            \
    {                                                                                                                   \
        return elements_of<vector_of<T, width>>::all(a) op b;                                                           \
    }                                                                                                                   \
    template <typename T, int width, typename B>                                                                        \
    INLINE vector_of<T, width>& operator op##=(vector_of<T, width>& a, B b)                                             \
    {                                                                                                                   \
        return a = a op b;                                                                                              \
    }
OPERATOR(+)
OPERATOR(-)
OPERATOR(*)
OPERATOR(/)
OPERATOR(&)

// -1 where it is so, 0 elsewhere.
#define COMPARISON(op)                                                                                                  \
    template <typename T> INLINE vector_of<int, 4> operator op(vector_of<T, 4> a, typename plain<T>::type b)            \
    {                                                                                                                   \
        static_assert(sizeof(T) == sizeof(int), "the numbers in a comparison's result have the size of those compared"); \
        return {-(a.x op b), -(a.y op b), -(a.z op b), -(a.w op b)};                                                    \
    }
COMPARISON(!=)
COMPARISON(<)
COMPARISON(>=)

#define NAME_TYPE(name)          \
    template <typename From>     \
    INLINE name as_##name(From value) { return bits_as<name>(value); }
#define NAME_TYPES(name)                                                                                                \
    typedef vector_of<name, 2> name##2;                                                                                 \
    typedef vector_of<name, 4> name##4;                                                                                 \
    typedef vector_of<name, 8> name##8;                                                                                 \
    typedef vector_of<name, 16> name##16;                                                                               \
    NAME_TYPE(name) NAME_TYPE(name##2) NAME_TYPE(name##4) NAME_TYPE(name##8) NAME_TYPE(name##16)
NAME_TYPES(char)
NAME_TYPES(uchar)
NAME_TYPES(short)
NAME_TYPES(ushort)
NAME_TYPES(int)
NAME_TYPES(uint)
NAME_TYPES(long)
NAME_TYPES(ulong)
NAME_TYPES(float)
NAME_TYPES(double)

// Element by element, as vloadn and vstoren promise no more alignment than an element's; where the compiler sees more,
// it makes one access of them.

template <typename T> INLINE vector_of<T, 2> vload2(size_t i, const T* p) { p += 2 * i; return {p[0], p[1]}; }
template <typename T> INLINE vector_of<T, 4> vload4(size_t i, const T* p) { p += 4 * i; return {p[0], p[1], p[2], p[3]}; }
template <typename T> INLINE vector_of<T, 8> vload8(size_t i, const T* p) { return {vload4(2 * i, p), vload4(2 * i + 1, p)}; }
template <typename T> INLINE vector_of<T, 16> vload16(size_t i, const T* p) { return {vload8(2 * i, p), vload8(2 * i + 1, p)}; }

template <typename T> INLINE void vstore2(vector_of<T, 2> v, size_t i, T* p) { p += 2 * i; p[0] = v.x; p[1] = v.y; }
template <typename T> INLINE void vstore4(vector_of<T, 4> v, size_t i, T* p)
{
    p += 4 * i;
    p[0] = v.x, p[1] = v.y, p[2] = v.z, p[3] = v.w;
}
template <typename T> INLINE void vstore8(vector_of<T, 8> v, size_t i, T* p) { vstore4(v.lo, 2 * i, p); vstore4(v.hi, 2 * i + 1, p); }
template <typename T> INLINE void vstore16(vector_of<T, 16> v, size_t i, T* p) { vstore8(v.lo, 2 * i, p); vstore8(v.hi, 2 * i + 1, p); }

struct half { ushort bits; };  // only to be pointed to, as in OpenCL C without cl_khr_fp16

INLINE float vload_half(size_t i, const half* p)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(p[i].bits));
    return value;
}

INLINE void vstore_half_rte(float value, size_t i, half* p)
{
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(p[i].bits) : "f"(value));
}

// Vectors of halves, aligned to the whole vector, as vectors of floats: a word has two halves.

INLINE float2 halves_of(uint word)
{
    float2 pair;
    asm("{.reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
        : "=f"(pair.x), "=f"(pair.y)
        : "r"(word));
    return pair;
}

INLINE uint word_of(float2 pair)
{
    uint word;
    asm("{.reg .b16 low, high; cvt.rn.f16.f32 low, %1; cvt.rn.f16.f32 high, %2; mov.b32 %0, {low, high};}"
        : "=r"(word)
        : "f"(pair.x), "f"(pair.y));
    return word;
}

INLINE float4 halves_of(uint2 words)
{
    const float2 low = halves_of(words.x), high = halves_of(words.y);
    return {low.x, low.y, high.x, high.y};
}

INLINE float2 vloada_half2(size_t i, const half* p) { return halves_of(((const uint*)p)[i]); }
INLINE float4 vloada_half4(size_t i, const half* p) { return halves_of(((const uint2*)p)[i]); }
INLINE float8 vloada_half8(size_t i, const half* p)
{
    const uint4 words = ((const uint4*)p)[i];
    return {halves_of(uint2{words.x, words.y}), halves_of(uint2{words.z, words.w})};
}

INLINE void vstorea_half2_rte(float2 v, size_t i, half* p) { ((uint*)p)[i] = word_of(v); }
INLINE void vstorea_half4_rte(float4 v, size_t i, half* p)
{
    ((uint2*)p)[i] = {word_of({v.x, v.y}), word_of({v.z, v.w})};
}
INLINE void vstorea_half8_rte(float8 v, size_t i, half* p)
{
    vstorea_half4_rte(v.lo, 2 * i, p), vstorea_half4_rte(v.hi, 2 * i + 1, p);
}

// Functions that CUDA has under other names, or for fewer types.

template <typename T> INLINE T min(T a, T b) { return b < a ? b : a; }
template <typename T> INLINE T max(T a, T b) { return a < b ? b : a; }
template <typename T> INLINE vector_of<T, 4> max(vector_of<T, 4> a, vector_of<T, 4> b)
{
    return {max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w)};
}
INLINE int clz(uint a) { return __clz(a); }
INLINE float mad(float a, float b, float c) { return a * b + c; }
INLINE double mad(double a, double b, double c) { return a * b + c; }
template <typename T> INLINE T dot(vector_of<T, 4> a, vector_of<T, 4> b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// The instructions of nvidia.cl, for which CUDA has words.

INLINE uint4 ld_global_nc_v4(const uint* address)
{
    const ::uint4 words = __ldg((const ::uint4*)address);
    return {words.x, words.y, words.z, words.w};
}

INLINE uint shfl_sync_idx(uint value, uint lane)
{
    return __shfl_sync(0xffffffff, value, lane);
}

INLINE uint local_address(const void* pointer) { return (uint)__cvta_generic_to_shared(pointer); }
INLINE void fence_acq_rel_gpu() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }  // __threadfence() orders more
INLINE void bar_warp_sync() { __syncwarp(); }

INLINE ulong globaltimer()
{
    ulong now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

// The macros of opencl.cl.

#define JOIN_TEXT(a, b) a##b
#define JOIN(a, b) JOIN_TEXT(a, b)
#define VECTOR(width) JOIN(REAL, width)
#define VLOAD(width) JOIN(vload, width)
#define VSTORE(width) JOIN(vstore, width)
#define SPLAT(width, value) (elements_of<VECTOR(width)>::all(value))
#define MAKE2(type, x, y) (JOIN(type, 2){type(x), type(y)})
#define MAKE4(type, x, y, z, w) (JOIN(type, 4){type(x), type(y), type(z), type(w)})
#define DOT4(a, b) dot(a, b)
