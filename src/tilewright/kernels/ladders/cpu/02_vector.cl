// A work-item computes VW neighbours of a row as one vector: one load of B serves VW products.
//
// VW    elements of a vector: as many as fill a register of the machine
//
// A GPU finds these neighbours by itself, in the work-items of a warp. On a CPU a work-item is a loop in a thread.
// Whether the driver makes one vector of 16 work-items is luck; a vector in the source is not.

typedef VECTOR(VW) vec;
// A vector at any element's address. Reading a plain `vec` promises an address that is a multiple of the vector's size,
// and breaking that promise ends in a fault.
typedef vec loose_vec __attribute__((aligned(sizeof(REAL))));

// The edge: what does not fill a vector, by the element.
static void edge(const int N, const int K, const __global REAL* A, const __global REAL* B, __global REAL* C,
                 const size_t row, const size_t column)
{
    for (size_t j = column; j < N; j++) {
        REAL sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + j];
        C[row * N + j] = sum;
    }
}

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const size_t row = get_global_id(1);
    const size_t column = get_global_id(0) * VW;
    if (row >= M || column >= N)
        return;  // the NDRange is rounded up to whole work-groups
    if (column + VW > N) {
        edge(N, K, A, B, C, row, column);
        return;
    }

    vec sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += A[row * K + k] * *(const __global loose_vec*)(B + k * N + column);
    *(__global loose_vec*)(C + row * N + column) = sum;
}
