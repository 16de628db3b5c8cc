// The sum stays in a register and is stored once, which saves K loads and K stores of C.

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0);
    const size_t column = get_global_id(1);
    if (row >= M || column >= N)
        return;

    REAL sum = 0;  // no other work-item can see it, so it may stay in a register
    for (size_t k = 0; k < K; k++)
        sum += A[row * K + k] * B[column * K + k];
    C[row * N + column] = sum;
}
