// Vectors of eight halve the loop steps again; OpenCL's dot() ends at four, so two are added.
//
// ROW_LENGTH  elements of the private row: K, a multiple of 8
//
// Ask the device for its preferred vector width before choosing one: the CPU of the published figures gained by this
// rung, the HD 4870, which prefers four, lost.

typedef VECTOR(8) vector;

#define DOT8(a, b) (DOT4((a).lo, (b).lo) + DOT4((a).hi, (b).hi))

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(0);
    if (row >= M)
        return;

    const __global vector* A_row = (const __global vector*)(A + row * K);
    vector own_row[ROW_LENGTH / 8];
    for (size_t i = 0; i < K / 8; i++)
        own_row[i] = A_row[i];

    for (size_t column = 0; column < N; column++) {
        const __global vector* B_column = (const __global vector*)(B + column * K);
        REAL sum = 0;
        for (size_t i = 0; i < K / 8; i++) {
            const vector b = B_column[i];
            sum += DOT8(own_row[i], b);
        }
        C[row * N + column] = sum;
    }
}
