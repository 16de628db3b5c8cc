// OpenCL C for clang alone: the built-in functions that kernels here use, as instructions instead of calls.
//
// Vendors' drivers link a library of built-in functions. To see their machine code without a driver, clang compiles
// for the target by itself, with this text before the kernel's. What is not here stays a call of the missing library,
// and whoever reads the code must refuse it, since a call hides registers and instructions.

// The types and constants of opencl-c-base.h, which not every clang brings along.
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define TW_VECTOR(type, width) typedef type type##width __attribute__((ext_vector_type(width)));
#define TW_VECTORS(type)                                                                                           \
    TW_VECTOR(type, 2) TW_VECTOR(type, 3) TW_VECTOR(type, 4) TW_VECTOR(type, 8) TW_VECTOR(type, 16)
TW_VECTORS(char)
TW_VECTORS(uchar)
TW_VECTORS(short)
TW_VECTORS(ushort)
TW_VECTORS(int)
TW_VECTORS(uint)
TW_VECTORS(long)
TW_VECTORS(ulong)
TW_VECTORS(float)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
TW_VECTORS(double)

// What `address` held, which is one more from then on.
#define atomic_inc(address) __sync_fetch_and_add(address, 1)

// The same bits as another type, and the same values.
#define as_int(bits) __builtin_astype((bits), int)
#define as_int4(bits) __builtin_astype((bits), int4)
#define as_uint(bits) __builtin_astype((bits), uint)
#define as_uint2(bits) __builtin_astype((bits), uint2)
#define as_uint4(bits) __builtin_astype((bits), uint4)
#define as_float(bits) __builtin_astype((bits), float)
#define as_float2(bits) __builtin_astype((bits), float2)
#define as_float4(bits) __builtin_astype((bits), float4)
#define as_double(bits) __builtin_astype((bits), double)
#define as_double2(bits) __builtin_astype((bits), double2)
#define as_long(bits) __builtin_astype((bits), long)
#define as_ulong(bits) __builtin_astype((bits), ulong)
#define convert_float(value) ((float)(value))
#define convert_double(value) ((double)(value))
#define convert_int(value) ((int)(value))
#define convert_uint(value) ((uint)(value))
#define convert_float4(value) __builtin_convertvector((value), float4)
#define convert_int4(value) __builtin_convertvector((value), int4)

#define TW_BUILTIN static inline __attribute__((overloadable, always_inline))

#if defined(__AMDGCN__)

// Hidden kernel arguments of code object version 5: the sizes of a group at byte 12, the global offset at byte 40.
#define TW_BY_AXIS(axis, x, y, z) ((axis) == 0 ? (x) : (axis) == 1 ? (y) : (z))
#define TW_HIDDEN(type, byte) (*(const __constant type*)(__builtin_amdgcn_implicitarg_ptr() + (byte)))
TW_BUILTIN size_t get_local_id(uint axis)
{
    return TW_BY_AXIS(axis, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                      __builtin_amdgcn_workitem_id_z());
}
TW_BUILTIN size_t get_group_id(uint axis)
{
    return TW_BY_AXIS(axis, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                      __builtin_amdgcn_workgroup_id_z());
}
TW_BUILTIN size_t get_local_size(uint axis)
{
    return TW_BY_AXIS(axis, TW_HIDDEN(ushort, 12), TW_HIDDEN(ushort, 14), TW_HIDDEN(ushort, 16));
}
TW_BUILTIN size_t get_num_groups(uint axis)
{
    return TW_BY_AXIS(axis, TW_HIDDEN(uint, 0), TW_HIDDEN(uint, 4), TW_HIDDEN(uint, 8));
}
TW_BUILTIN size_t get_global_offset(uint axis)
{
    return TW_BY_AXIS(axis, TW_HIDDEN(ulong, 40), TW_HIDDEN(ulong, 48), TW_HIDDEN(ulong, 56));
}
TW_BUILTIN size_t get_global_id(uint axis)
{
    return get_group_id(axis) * get_local_size(axis) + get_local_id(axis) + get_global_offset(axis);
}
TW_BUILTIN size_t get_global_size(uint axis)
{
    return get_num_groups(axis) * get_local_size(axis);
}
TW_BUILTIN void barrier(cl_mem_fence_flags flags)
{
    if (flags == CLK_LOCAL_MEM_FENCE) {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
    } else {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    }
}

#elif defined(__NVPTX__)

#define asm __asm__
TW_BUILTIN size_t tw_of_axis(uint axis, int x, int y, int z) { return axis == 0 ? x : axis == 1 ? y : z; }
TW_BUILTIN size_t get_local_id(uint axis)
{
    return tw_of_axis(axis, __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_tid_y(), __nvvm_read_ptx_sreg_tid_z());
}
TW_BUILTIN size_t get_group_id(uint axis)
{
    return tw_of_axis(axis, __nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_ctaid_y(),
                      __nvvm_read_ptx_sreg_ctaid_z());
}
TW_BUILTIN size_t get_local_size(uint axis)
{
    return tw_of_axis(axis, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(),
                      __nvvm_read_ptx_sreg_ntid_z());
}
TW_BUILTIN size_t get_num_groups(uint axis)
{
    return tw_of_axis(axis, __nvvm_read_ptx_sreg_nctaid_x(), __nvvm_read_ptx_sreg_nctaid_y(),
                      __nvvm_read_ptx_sreg_nctaid_z());
}
TW_BUILTIN size_t get_global_id(uint axis) { return get_group_id(axis) * get_local_size(axis) + get_local_id(axis); }
TW_BUILTIN size_t get_global_size(uint axis) { return get_num_groups(axis) * get_local_size(axis); }
TW_BUILTIN void barrier(cl_mem_fence_flags flags) { __syncthreads(); }

#else

// The code of a single work-item, which finds its place in the NDRange in memory. There is no barrier to wait at.
extern const __constant size_t tilewright_place[5][3];
TW_BUILTIN size_t get_local_id(uint axis) { return tilewright_place[0][axis]; }
TW_BUILTIN size_t get_group_id(uint axis) { return tilewright_place[1][axis]; }
TW_BUILTIN size_t get_global_id(uint axis) { return tilewright_place[2][axis]; }
TW_BUILTIN size_t get_local_size(uint axis) { return tilewright_place[3][axis]; }
TW_BUILTIN size_t get_num_groups(uint axis) { return tilewright_place[4][axis]; }
TW_BUILTIN size_t get_global_size(uint axis) { return get_num_groups(axis) * get_local_size(axis); }

#endif

// Vectors from and to memory that is aligned to their elements only.
#define TW_MOVES(type, width, space)                                                                               \
    TW_BUILTIN type##width vload##width(size_t offset, const space type* from)                                     \
    {                                                                                                              \
        typedef type##width loose __attribute__((aligned(sizeof(type))));                                          \
        return *(const space loose*)(from + offset * width);                                                       \
    }
#define TW_WRITES(type, width, space)                                                                              \
    TW_BUILTIN void vstore##width(type##width value, size_t offset, space type* to)                                \
    {                                                                                                              \
        typedef type##width loose __attribute__((aligned(sizeof(type))));                                          \
        *(space loose*)(to + offset * width) = value;                                                              \
    }
#define TW_IN_SPACES(type, width)                                                                                  \
    TW_MOVES(type, width, __global) TW_MOVES(type, width, __local) TW_MOVES(type, width, __private)                \
    TW_MOVES(type, width, __constant)                                                                              \
    TW_WRITES(type, width, __global) TW_WRITES(type, width, __local) TW_WRITES(type, width, __private)
#define TW_OF_WIDTHS(type)                                                                                         \
    TW_IN_SPACES(type, 2) TW_IN_SPACES(type, 4) TW_IN_SPACES(type, 8) TW_IN_SPACES(type, 16)
TW_OF_WIDTHS(char)
TW_OF_WIDTHS(uchar)
TW_OF_WIDTHS(short)
TW_OF_WIDTHS(ushort)
TW_OF_WIDTHS(int)
TW_OF_WIDTHS(uint)
TW_OF_WIDTHS(long)
TW_OF_WIDTHS(ulong)
TW_OF_WIDTHS(float)
TW_OF_WIDTHS(double)

// A half in memory as a float in a register.
#define TW_HALVES(space)                                                                                           \
    TW_BUILTIN float vload_half(size_t offset, const space half* from)                                             \
    {                                                                                                              \
        return __builtin_load_halff(from + offset);                                                                \
    }
#define TW_WRITES_HALF(space)                                                                                      \
    TW_BUILTIN void vstore_half(float value, size_t offset, space half* to)                                        \
    {                                                                                                              \
        __builtin_store_halff(value, to + offset);                                                                 \
    }                                                                                                              \
    TW_BUILTIN void vstore_half_rte(float value, size_t offset, space half* to)                                    \
    {                                                                                                              \
        __builtin_store_halff(value, to + offset);                                                                 \
    }
TW_HALVES(__global)
TW_HALVES(__local)
TW_HALVES(__private)
TW_HALVES(__constant)
TW_WRITES_HALF(__global)
TW_WRITES_HALF(__local)
TW_WRITES_HALF(__private)

// Vectors of halves, aligned to the whole vector, as vectors of floats.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
TW_VECTORS(half)
#define TW_HALF_VECTORS(width, space)                                                                              \
    TW_BUILTIN float##width vloada_half##width(size_t offset, const space half* from)                              \
    {                                                                                                              \
        return __builtin_convertvector(((const space half##width*)from)[offset], float##width);                    \
    }
#define TW_WRITES_HALF_VECTORS(width, space)                                                                       \
    TW_BUILTIN void vstorea_half##width##_rte(float##width value, size_t offset, space half* to)                   \
    {                                                                                                              \
        ((space half##width*)to)[offset] = __builtin_convertvector(value, half##width);                            \
    }
#define TW_HALVES_IN_SPACES(width)                                                                                 \
    TW_HALF_VECTORS(width, __global) TW_HALF_VECTORS(width, __local) TW_HALF_VECTORS(width, __private)             \
    TW_WRITES_HALF_VECTORS(width, __global) TW_WRITES_HALF_VECTORS(width, __local)                                 \
    TW_WRITES_HALF_VECTORS(width, __private)
TW_HALVES_IN_SPACES(2)
TW_HALVES_IN_SPACES(4)
TW_HALVES_IN_SPACES(8)
TW_HALVES_IN_SPACES(16)

// Element by element, for scalars and vectors of one type each.
#define TW_FOR_TYPE(type)                                                                                          \
    TW_BUILTIN type min(type a, type b) { return __builtin_elementwise_min(a, b); }                                \
    TW_BUILTIN type max(type a, type b) { return __builtin_elementwise_max(a, b); }
#define TW_FLOATING(type)                                                                                          \
    TW_FOR_TYPE(type)                                                                                              \
    TW_BUILTIN type fmin(type a, type b) { return __builtin_elementwise_min(a, b); }                               \
    TW_BUILTIN type fmax(type a, type b) { return __builtin_elementwise_max(a, b); }                               \
    TW_BUILTIN type fma(type a, type b, type c) { return __builtin_elementwise_fma(a, b, c); }                     \
    TW_BUILTIN type mad(type a, type b, type c) { return __builtin_elementwise_fma(a, b, c); }                     \
    TW_BUILTIN type fabs(type a) { return __builtin_elementwise_abs(a); }                                          \
    TW_BUILTIN type sqrt(type a) { return __builtin_elementwise_sqrt(a); }                                         \
    TW_BUILTIN type floor(type a) { return __builtin_elementwise_floor(a); }                                       \
    TW_BUILTIN type ceil(type a) { return __builtin_elementwise_ceil(a); }                                         \
    TW_BUILTIN type trunc(type a) { return __builtin_elementwise_trunc(a); }                                       \
    TW_BUILTIN type rint(type a) { return __builtin_elementwise_rint(a); }
#define TW_ALL_WIDTHS(what, type)                                                                                  \
    what(type) what(type##2) what(type##4) what(type##8) what(type##16)
TW_ALL_WIDTHS(TW_FOR_TYPE, int)
TW_ALL_WIDTHS(TW_FOR_TYPE, uint)
TW_ALL_WIDTHS(TW_FOR_TYPE, long)
TW_ALL_WIDTHS(TW_FOR_TYPE, ulong)
TW_ALL_WIDTHS(TW_FLOATING, float)
TW_ALL_WIDTHS(TW_FLOATING, double)

TW_BUILTIN float exp(float a) { return __builtin_elementwise_exp(a); }
TW_BUILTIN int isnan(float a) { return a != a; }
TW_BUILTIN int isnan(double a) { return a != a; }
TW_BUILTIN int select(int otherwise, int chosen, int condition) { return condition ? chosen : otherwise; }
TW_BUILTIN uint select(uint otherwise, uint chosen, uint condition) { return condition ? chosen : otherwise; }
#define TW_DOTS(type)                                                                                              \
    TW_BUILTIN type dot(type##2 a, type##2 b) { return a.x * b.x + a.y * b.y; }                                    \
    TW_BUILTIN type dot(type##4 a, type##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
TW_DOTS(float)
TW_DOTS(double)
