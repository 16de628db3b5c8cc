// y = alpha A x + beta y: the vector goes through local memory in pieces; macros choose type and work.
#define WGS 32
#define WPT 2
#if PRECISION == 64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#define ZERO 0.0
#else
typedef float real;
#define ZERO 0.0f
#endif
#define MultiplyAdd(c, a, b) c = fma(a, b, c)
#define SetToZero(a) a = ZERO

inline real LoadMatrixA(const __global real* restrict agm, const int x, const int y, const int a_ld)
{
    return agm[a_ld * y + x];
}

__kernel __attribute__((reqd_work_group_size(WGS, 1, 1)))
void gemv_cached_vector(const int m, const int n, const real alpha, const real beta, const __global real* restrict agm,
                        const int a_ld, const __global real* restrict xgm, __global real* ygm)
{
    __local real xlm[WGS];
    real acc[WPT];
#pragma unroll
    for (int w = 0; w < WPT; ++w) {
        SetToZero(acc[w]);
    }
    for (int kwg = 0; kwg < n; kwg += WGS) {
        const int lid = get_local_id(0);
        xlm[lid] = (kwg + lid < n) ? xgm[kwg + lid] : ZERO;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int w = 0; w < WPT; ++w) {
            const int gid = w * get_global_size(0) + get_global_id(0);
            if (gid < m) {
                const int end = min(WGS, n - kwg);
                for (int k = 0; k < end; ++k)
                    MultiplyAdd(acc[w], xlm[k], LoadMatrixA(agm, kwg + k, gid, a_ld));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int w = 0; w < WPT; ++w) {
        const int gid = w * get_global_size(0) + get_global_id(0);
        if (gid < m)
            ygm[gid] = alpha * acc[w] + beta * ygm[gid];
    }
}
