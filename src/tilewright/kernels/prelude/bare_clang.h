// OpenCL C for clang alone: types, constants, places of work-items and barriers. bare_clang_vectors.h has casts, loads and stores,
// bare_clang_functions.h functions of numbers, bare_clang_groups.h atomic functions and sub-groups.
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
#define UINT_MAX 0xffffffffu
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 0xffffffffffffffffUL
#define CHAR_BIT 8
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#define HUGE_VALF INFINITY
#define HUGE_VAL (__builtin_inf())
#define MAXFLOAT FLT_MAX
#define M_E 2.71828182845904523536
#define M_LN2 0.69314718055994530942
#define M_LOG2E 1.44269504088896340736
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_E_F 2.71828182845904523536f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTPTR_TYPE__ intptr_t;
#define CLK_IMAGE_MEM_FENCE 4
#define printf(...) ((int)0)  // prints nothing: what it costs is not the kernel's
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
TW_VECTORS(double)

#define TW_BUILTIN static inline __attribute__((overloadable, always_inline))
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
TW_VECTORS(half)
#define TW_TYPES(what)                                                                                             \
    what(char) what(uchar) what(short) what(ushort) what(int) what(uint) what(long) what(ulong) what(float) what(double)

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
TW_BUILTIN uint get_work_dim(void) { return TW_HIDDEN(ushort, 64); }
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
TW_BUILTIN size_t get_global_offset(uint axis) { return 0; }
TW_BUILTIN uint get_work_dim(void) { return __nvvm_read_ptx_sreg_nctaid_z() > 1 ? 3 : 2; }
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
TW_BUILTIN size_t get_global_offset(uint axis) { return 0; }
TW_BUILTIN uint get_work_dim(void) { return tilewright_place[4][2] > 1 ? 3 : 2; }

#endif
