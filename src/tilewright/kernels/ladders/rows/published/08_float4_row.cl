// The private row is gathered into vectors once, which takes half of the gathering out of the main loop.
//
// ROW_LENGTH  elements of the private row: K, a multiple of 4
//
// B is still gathered from four elements at each use. `float4_row` reads both through pointers to vectors.

#define GATHERED(p, i) MAKE4(REAL, (p)[i], (p)[(i) + 1], (p)[(i) + 2], (p)[(i) + 3])

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0);
    if (row >= M)
        return;

    const __global REAL* A_row = A + row * K;
    VECTOR(4) own_row[ROW_LENGTH / 4];
    for (size_t k = 0; k < K; k += 4)
        own_row[k / 4] = GATHERED(A_row, k);

    for (size_t column = 0; column < N; column++) {
        const __global REAL* B_column = B + column * K;
        REAL sum = 0;
        for (size_t k = 0; k < K; k += 4)
            sum += DOT4(own_row[k / 4], GATHERED(B_column, k));
        C[row * N + column] = sum;
    }
}
