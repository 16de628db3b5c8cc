// MR x NV vectors of C stay in registers: MR * NV multiply-adds for only MR + NV loads.
//
// VW    elements of a vector: as many as fill a register of the machine
// MR    rows of C per work-item
// NV    vectors of a row of C per work-item
//
// The sums also hide how long a multiply-add takes. It delivers after four or five cycles, two can start in each, so a
// single sum that waits for itself reaches a tenth of the machine; 24 independent ones keep it busy.

typedef VECTOR(VW) vec;
// A vector at any element's address. Reading a plain `vec` promises an address that is a multiple of the vector's size,
// and breaking that promise ends in a fault.
typedef vec loose_vec __attribute__((aligned(sizeof(REAL))));

#define NR (NV * VW)

// The edge: what does not fill the vectors of `rows` rows, by the element.
static void edge(const int N, const int K, const __global REAL* A, const __global REAL* B, __global REAL* C,
                 const size_t row, const size_t column, const int rows)
{
    for (size_t i = row; i < row + rows; i++) {
        for (size_t j = column; j < N; j++) {
            REAL sum = 0;
            for (size_t k = 0; k < K; k++)
                sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
    }
}

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(1) * MR;
    const size_t column = get_global_id(0) * NR;
    if (row >= M || column >= N)
        return;  // the NDRange is rounded up to whole work-groups
    const int rows = min(MR, (int)(M - row));
    if (column + NR > N) {
        edge(N, K, A, B, C, row, column, rows);
        return;
    }

    vec sum[MR][NV];
#pragma unroll
    for (int i = 0; i < MR; i++)
#pragma unroll
        for (int q = 0; q < NV; q++)
            sum[i][q] = 0;
    for (size_t k = 0; k < K; k++) {
        vec b[NV];
#pragma unroll
        for (int q = 0; q < NV; q++)
            b[q] = *(const __global loose_vec*)(B + k * N + column + q * VW);
#pragma unroll
        for (int i = 0; i < MR; i++) {
            // Rows past the last one are read as copies of it: what they give is not stored.
            const REAL a = A[(row + min(i, rows - 1)) * K + k];
#pragma unroll
            for (int q = 0; q < NV; q++)
                sum[i][q] += a * b[q];
        }
    }
#pragma unroll
    for (int i = 0; i < MR; i++)
#pragma unroll
        for (int q = 0; q < NV; q++)
            if (i < rows)
                *(__global loose_vec*)(C + (row + i) * N + column + q * VW) = sum[i][q];
}
