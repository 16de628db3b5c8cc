// Row and columns are aligned vectors of four: one load of 16 bytes replaces four loads.
//
// ROW_LENGTH  elements of the private row: K, a multiple of 4
//
// Elements are gathered once, when the row is copied, and not at each of N uses. As K is a
// multiple of 4, every row of A and every column of B begins at a whole vector. A pointer to vectors says so, and the
// compiler loads 16 bytes at once. VLOAD promises the alignment of one element only, and becomes four loads.

typedef VECTOR(4) vector;

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0);
    if (row >= M)
        return;

    const __global vector* A_row = (const __global vector*)(A + row * K);
    vector own_row[ROW_LENGTH / 4];
    for (size_t i = 0; i < K / 4; i++)
        own_row[i] = A_row[i];

    for (size_t column = 0; column < N; column++) {
        const __global vector* B_column = (const __global vector*)(B + column * K);
        REAL sum = 0;
        for (size_t i = 0; i < K / 4; i++)
            sum += DOT4(own_row[i], B_column[i]);
        C[row * N + column] = sum;
    }
}
