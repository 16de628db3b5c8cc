// The private row is held as vectors: its elements are gathered once, when it is copied, and not at each of N uses.
//
// ROW_LENGTH  elements of the private row: K, a multiple of 4

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0);
    if (row >= M)
        return;

    VECTOR(4) own_row[ROW_LENGTH / 4];
    for (size_t i = 0; i < K / 4; i++)
        own_row[i] = VLOAD(4)(i, A + row * K);

    for (size_t column = 0; column < N; column++) {
        REAL sum = 0;
        for (size_t i = 0; i < K / 4; i++) {
            const VECTOR(4) b = VLOAD(4)(i, B + column * K);
            sum += DOT4(own_row[i], b);
        }
        C[row * N + column] = sum;
    }
}
