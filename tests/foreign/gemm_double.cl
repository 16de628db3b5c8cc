// C = alpha A B + beta C, one element a work-item, in the type that the host names.
#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifndef DATA_TYPE
#define DATA_TYPE float
#endif
typedef DATA_TYPE real_t;

__kernel void gemm_double(__global real_t* a, __global real_t* b, __global real_t* c, real_t alpha, real_t beta, int ni,
                          int nj, int nk)
{
    int j = get_global_id(0);
    int i = get_global_id(1);

    if ((i < ni) && (j < nj)) {
        c[i * nj + j] *= beta;
        int k;
        for (k = 0; k < nk; k++) {
            c[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
        }
    }
}
