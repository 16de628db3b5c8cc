// Dot products of vectors that are built of four elements at each use, of the private row and of B.
//
// ROW_LENGTH  elements of the private row: K, a multiple of 4
//
// B is loaded word by word, as in `private_row`: what is gained is at most the arithmetic.

#define GATHERED(p, i) MAKE4(REAL, (p)[i], (p)[(i) + 1], (p)[(i) + 2], (p)[(i) + 3])

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0);
    if (row >= M)
        return;

    REAL own_row[ROW_LENGTH];
    for (size_t k = 0; k < K; k++)
        own_row[k] = A[row * K + k];

    for (size_t column = 0; column < N; column++) {
        const __global REAL* B_column = B + column * K;
        REAL sum = 0;
        for (size_t k = 0; k < K; k += 4)
            sum += DOT4(GATHERED(own_row, k), GATHERED(B_column, k));
        C[row * N + column] = sum;
    }
}
