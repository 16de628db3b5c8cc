// Macros for every kernel. The renderer defines before it:
//   REAL              the element type: float, double or int
//   REAL_IS_INTEGER   1 for integers, whose arithmetic wraps and is exact
//   REAL_IS_DOUBLE    1 where the device must be asked for double precision
#if REAL_IS_DOUBLE && __OPENCL_C_VERSION__ < 120  // compilers since 1.2 warn that the pragma is superfluous
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define INLINE static inline __attribute__((always_inline))  // before every function that is not a kernel

#define JOIN_TEXT(a, b) a##b
#define JOIN(a, b) JOIN_TEXT(a, b)
#define VECTOR(width) JOIN(REAL, width)      // VECTOR(4) is float4, double4 or int4
#define VLOAD(width) JOIN(vload, width)      // VLOAD(4)(i, p) reads elements 4i .. 4i+3 of p
#define VSTORE(width) JOIN(vstore, width)
#define SPLAT(width, value) ((VECTOR(width))(value))  // a vector of `width` equal elements
#define MAKE2(type, x, y) ((JOIN(type, 2))(x, y))  // a vector of elements of `type`
#define MAKE4(type, x, y, z, w) ((JOIN(type, 4))(x, y, z, w))

// OpenCL's dot() knows floating-point vectors of at most four elements; this one also takes int4.
#if REAL_IS_INTEGER
#define DOT4(a, b) ((a).x * (b).x + (a).y * (b).y + (a).z * (b).z + (a).w * (b).w)
#else
#define DOT4(a, b) dot(a, b)
#endif
