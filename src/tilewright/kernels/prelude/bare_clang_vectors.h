// Casts of bits, and vectors from and to memory, for clang alone.

// The same bits as another type.
#define as_char(bits) __builtin_astype((bits), char)
#define as_uchar(bits) __builtin_astype((bits), uchar)
#define as_short(bits) __builtin_astype((bits), short)
#define as_ushort(bits) __builtin_astype((bits), ushort)
#define as_half(bits) __builtin_astype((bits), half)
#define as_int(bits) __builtin_astype((bits), int)
#define as_uint(bits) __builtin_astype((bits), uint)
#define as_long(bits) __builtin_astype((bits), long)
#define as_ulong(bits) __builtin_astype((bits), ulong)
#define as_float(bits) __builtin_astype((bits), float)
#define as_double(bits) __builtin_astype((bits), double)
#define as_char2(bits) __builtin_astype((bits), char2)
#define as_char3(bits) __builtin_astype((bits), char3)
#define as_char4(bits) __builtin_astype((bits), char4)
#define as_char8(bits) __builtin_astype((bits), char8)
#define as_char16(bits) __builtin_astype((bits), char16)
#define as_uchar2(bits) __builtin_astype((bits), uchar2)
#define as_uchar3(bits) __builtin_astype((bits), uchar3)
#define as_uchar4(bits) __builtin_astype((bits), uchar4)
#define as_uchar8(bits) __builtin_astype((bits), uchar8)
#define as_uchar16(bits) __builtin_astype((bits), uchar16)
#define as_short2(bits) __builtin_astype((bits), short2)
#define as_short3(bits) __builtin_astype((bits), short3)
#define as_short4(bits) __builtin_astype((bits), short4)
#define as_short8(bits) __builtin_astype((bits), short8)
#define as_short16(bits) __builtin_astype((bits), short16)
#define as_ushort2(bits) __builtin_astype((bits), ushort2)
#define as_ushort3(bits) __builtin_astype((bits), ushort3)
#define as_ushort4(bits) __builtin_astype((bits), ushort4)
#define as_ushort8(bits) __builtin_astype((bits), ushort8)
#define as_ushort16(bits) __builtin_astype((bits), ushort16)
#define as_int2(bits) __builtin_astype((bits), int2)
#define as_int3(bits) __builtin_astype((bits), int3)
#define as_int4(bits) __builtin_astype((bits), int4)
#define as_int8(bits) __builtin_astype((bits), int8)
#define as_int16(bits) __builtin_astype((bits), int16)
#define as_uint2(bits) __builtin_astype((bits), uint2)
#define as_uint3(bits) __builtin_astype((bits), uint3)
#define as_uint4(bits) __builtin_astype((bits), uint4)
#define as_uint8(bits) __builtin_astype((bits), uint8)
#define as_uint16(bits) __builtin_astype((bits), uint16)
#define as_long2(bits) __builtin_astype((bits), long2)
#define as_long3(bits) __builtin_astype((bits), long3)
#define as_long4(bits) __builtin_astype((bits), long4)
#define as_long8(bits) __builtin_astype((bits), long8)
#define as_long16(bits) __builtin_astype((bits), long16)
#define as_ulong2(bits) __builtin_astype((bits), ulong2)
#define as_ulong3(bits) __builtin_astype((bits), ulong3)
#define as_ulong4(bits) __builtin_astype((bits), ulong4)
#define as_ulong8(bits) __builtin_astype((bits), ulong8)
#define as_ulong16(bits) __builtin_astype((bits), ulong16)
#define as_float2(bits) __builtin_astype((bits), float2)
#define as_float3(bits) __builtin_astype((bits), float3)
#define as_float4(bits) __builtin_astype((bits), float4)
#define as_float8(bits) __builtin_astype((bits), float8)
#define as_float16(bits) __builtin_astype((bits), float16)
#define as_double2(bits) __builtin_astype((bits), double2)
#define as_double3(bits) __builtin_astype((bits), double3)
#define as_double4(bits) __builtin_astype((bits), double4)
#define as_double8(bits) __builtin_astype((bits), double8)
#define as_double16(bits) __builtin_astype((bits), double16)
#define as_half2(bits) __builtin_astype((bits), half2)
#define as_half3(bits) __builtin_astype((bits), half3)
#define as_half4(bits) __builtin_astype((bits), half4)
#define as_half8(bits) __builtin_astype((bits), half8)
#define as_half16(bits) __builtin_astype((bits), half16)

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
#define TW_THREE(type, space)                                                                                      \
    TW_BUILTIN type##3 vload3(size_t offset, const space type* from)                                               \
    {                                                                                                              \
        return (type##3)(from[3 * offset], from[3 * offset + 1], from[3 * offset + 2]);                            \
    }
#define TW_WRITES_THREE(type, space)                                                                               \
    TW_BUILTIN void vstore3(type##3 value, size_t offset, space type* to)                                          \
    {                                                                                                              \
        to[3 * offset] = value.x, to[3 * offset + 1] = value.y, to[3 * offset + 2] = value.z;                      \
    }
#define TW_OF_WIDTHS(type)                                                                                         \
    TW_IN_SPACES(type, 2) TW_IN_SPACES(type, 4) TW_IN_SPACES(type, 8) TW_IN_SPACES(type, 16)                       \
    TW_THREE(type, __global) TW_THREE(type, __local) TW_THREE(type, __private) TW_THREE(type, __constant)          \
    TW_WRITES_THREE(type, __global) TW_WRITES_THREE(type, __local) TW_WRITES_THREE(type, __private)
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
TW_OF_WIDTHS(half)

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
    TW_BUILTIN void vstore_half_rte(float value, size_t offset, space half* to) { vstore_half(value, offset, to); } \
    TW_BUILTIN void vstore_half_rtz(float value, size_t offset, space half* to) { vstore_half(value, offset, to); }
TW_HALVES(__global)
TW_HALVES(__local)
TW_HALVES(__private)
TW_HALVES(__constant)
TW_WRITES_HALF(__global)
TW_WRITES_HALF(__local)
TW_WRITES_HALF(__private)

// Vectors of halves as vectors of floats: "a" ones are aligned to the whole vector, the others to an element.
#define TW_HALF_VECTORS(width, space)                                                                              \
    TW_BUILTIN float##width vloada_half##width(size_t offset, const space half* from)                              \
    {                                                                                                              \
        return __builtin_convertvector(((const space half##width*)from)[offset], float##width);                    \
    }                                                                                                              \
    TW_BUILTIN float##width vload_half##width(size_t offset, const space half* from)                               \
    {                                                                                                              \
        return __builtin_convertvector(vload##width(offset, from), float##width);                                  \
    }
#define TW_WRITES_HALF_VECTOR(name, width, space)                                                                  \
    TW_BUILTIN void vstorea_##name(float##width value, size_t offset, space half* to)                              \
    {                                                                                                              \
        ((space half##width*)to)[offset] = __builtin_convertvector(value, half##width);                            \
    }                                                                                                              \
    TW_BUILTIN void vstore_##name(float##width value, size_t offset, space half* to)                               \
    {                                                                                                              \
        vstore##width(__builtin_convertvector(value, half##width), offset, to);                                    \
    }
#define TW_WRITES_HALF_VECTORS(width, space)                                                                       \
    TW_WRITES_HALF_VECTOR(half##width, width, space) TW_WRITES_HALF_VECTOR(half##width##_rte, width, space)        \
    TW_WRITES_HALF_VECTOR(half##width##_rtz, width, space)
#define TW_HALVES_IN_SPACES(width)                                                                                 \
    TW_HALF_VECTORS(width, __global) TW_HALF_VECTORS(width, __local) TW_HALF_VECTORS(width, __private)             \
    TW_HALF_VECTORS(width, __constant) TW_WRITES_HALF_VECTORS(width, __global)                                     \
    TW_WRITES_HALF_VECTORS(width, __local) TW_WRITES_HALF_VECTORS(width, __private)
TW_HALVES_IN_SPACES(2)
TW_HALVES_IN_SPACES(3)
TW_HALVES_IN_SPACES(4)
TW_HALVES_IN_SPACES(8)
TW_HALVES_IN_SPACES(16)
