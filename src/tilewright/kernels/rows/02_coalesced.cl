// B is stored by columns, so a work-item walks through A and B with stride 1: no cache line is fetched twice.
//
// That helps a CPU whose driver runs one work-item after the other: PoCL goes from 1.09 to 4.02 GFLOP/s. Intel's driver,
// the default here, runs 16 work-items in step, and loses: 17.1 to 8.15 (K = 1024). In step the stride *between* work-items
// counts. Dimension 0 runs down the rows, so each of the 16, or of a GPU's 32 or 64, wants another cache line of A and C,
// and in rung 1 all of them read the same word of B. Hence the published times: 1.6 times as fast on a CPU of 2012,
// nothing gained on the GPU.
__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0);
    const size_t column = get_global_id(1);
    if (row >= M || column >= N)
        return;

    C[row * N + column] = 0;
    for (size_t k = 0; k < K; k++)
        C[row * N + column] += A[row * K + k] * B[column * K + k];
}
