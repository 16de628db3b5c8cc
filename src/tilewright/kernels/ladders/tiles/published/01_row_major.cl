// Row-major matrices, and dimension 0 down the rows: neighbours jump by a row of A and of C.
//
// The first kernel of the CSDN articles, whose matrices hold int. It has no guards.

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const int row = get_global_id(0);
    const int column = get_global_id(1);

    REAL sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
