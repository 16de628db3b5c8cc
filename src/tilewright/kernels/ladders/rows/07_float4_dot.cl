// `private_row` with dot products of four elements read by vload4: a quarter of the loop steps.
//
// ROW_LENGTH  elements of the private row: K, a multiple of 4
//
// It pays where lanes are four wide: the HD 4870 issued up to five operations per lane and step. On a GPU with scalar
// lanes B is still loaded word by word, as vload4 promises no alignment (`float4_row` does), and only the private row
// is read wide.

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
        REAL sum = 0;
        for (size_t i = 0; i < K / 4; i++) {  // i counts vectors
            const VECTOR(4) a = VLOAD(4)(i, own_row);
            const VECTOR(4) b = VLOAD(4)(i, B + column * K);
            sum += DOT4(a, b);
        }
        C[row * N + column] = sum;
    }
}
