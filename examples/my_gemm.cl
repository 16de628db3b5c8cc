// One work-item computes ROWS rows of one column of C, so that each element of B that it loads serves ROWS products.
// tilewright: --problem gemm --global N,M/ROWS --local 32,4 -D ROWS=8
__kernel void my_gemm(const int M, const int N, const int K, const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const int column = get_global_id(0);
    const int first = get_global_id(1) * ROWS;
    if (column >= N)
        return;

    REAL sum[ROWS];
    for (int i = 0; i < ROWS; i++)
        sum[i] = 0;

    for (int k = 0; k < K; k++) {
        const REAL b = B[(size_t)k * N + column];
        for (int i = 0; i < ROWS; i++)
            sum[i] += A[(size_t)min(first + i, M - 1) * K + k] * b;
    }

    for (int i = 0; i < ROWS && first + i < M; i++)
        C[(size_t)(first + i) * N + column] = sum[i];
}
