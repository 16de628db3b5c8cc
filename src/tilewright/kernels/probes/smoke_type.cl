// Uses a type for real: what an extension string promises is not always compiled, and the reverse.

#if USE_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#else
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
__kernel void smoke_type(__global REAL *x)
{
    x[get_global_id(0)] = x[get_global_id(0)] * (REAL)2 + (REAL)1;
}
