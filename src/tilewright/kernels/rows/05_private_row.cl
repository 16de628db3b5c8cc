// The work-item copies its row of A to private memory once, and reads it from there N times.
//
// ROW_LENGTH  elements of the private row: K, known when the kernel is compiled, since a private array cannot grow
//
// No register file holds thousands of elements. "Private" is where the driver puts it: on a CPU that is the stack, on a
// GPU device memory, laid out so that work-items in step read neighbouring words instead of words a row apart. That is
// what was gained on a GPU without caches; where a cache holds A anyway, the copy gains nothing.

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
        for (size_t k = 0; k < K; k++)
            sum += own_row[k] * B[column * K + k];
        C[row * N + column] = sum;
    }
}
