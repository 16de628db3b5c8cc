// A panel of B is packed into a dense buffer for the L1 cache, and BM rows of C reuse it.
//
// VW    elements of a vector: as many as fill a register of the machine
// MR    rows of C that are computed in registers at a time
// NV    vectors of a row of C that are computed in registers at a time
// BM    rows of C per work-item
// KC    steps of K for which the panel is packed at a time
//
// A row of B starts N elements after the one before, so each step of k met another page of memory. A core's TLB holds
// 64 to 100 pages. Packed, the panel lies in a few pages, in the order of its use.

typedef VECTOR(VW) vec;
// A vector at any element's address. Reading a plain `vec` promises an address that is a multiple of the vector's size,
// and breaking that promise ends in a fault.
typedef vec loose_vec __attribute__((aligned(sizeof(REAL))));

#define NR (NV * VW)

// Adds a vector to `count` elements of C, or to as many as it has; the first block of K stores it instead.
static void add(const vec value, __global REAL* C, const int count, const int first)
{
    if (count >= VW) {
        __global loose_vec* c = (__global loose_vec*)C;
        *c = first ? value : *c + value;
    } else {
        for (int lane = 0; lane < count; lane++)
            C[lane] = first ? ((const REAL*)&value)[lane] : C[lane] + ((const REAL*)&value)[lane];
    }
}

// C += A * panel for `rows` of MR rows, `columns` of NR columns and `depth` steps of k.
static __attribute__((noinline)) void multiply(const int N, const int depth, const __global REAL* A, const size_t a_row,
                                               const REAL* panel, __global REAL* C, const int rows,
                                               const int columns, const int first)
{
    vec sum[MR][NV];
#pragma unroll
    for (int i = 0; i < MR; i++)
#pragma unroll
        for (int q = 0; q < NV; q++)
            sum[i][q] = 0;
    for (int k = 0; k < depth; k++) {
        vec b[NV];
#pragma unroll
        for (int q = 0; q < NV; q++)
            b[q] = *(const vec*)(panel + k * NR + q * VW);
#pragma unroll
        for (int i = 0; i < MR; i++) {
            // Rows past the last one are read as copies of it: what they give is not stored.
            const REAL a = A[min(i, rows - 1) * a_row + k];
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
                add(sum[i][q], C + i * (size_t)N + q * VW, columns - q * VW, first);
}

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    REAL panel[KC * NR] __attribute__((aligned(64)));
    const size_t row = get_global_id(1) * BM;
    const size_t column = get_global_id(0) * NR;
    if (row >= M || column >= N)
        return;  // the NDRange is rounded up to whole work-groups
    const int rows = min(BM, (int)(M - row));
    const int columns = min(NR, (int)(N - column));

    int k0 = 0;
    do {  // once even if K is 0, to store zeros
        const int depth = min(KC, K - k0);
        // A ragged panel is filled up with zeros, so that only the store at the end has to know.
        for (int k = 0; k < depth; k++)
            for (int j = 0; j < NR; j++)
                panel[k * NR + j] = j < columns ? B[(k0 + k) * (size_t)N + column + j] : 0;
        for (int i = 0; i < rows; i += MR)
            multiply(N, depth, A + (row + i) * K + k0, K, panel, C + (row + i) * N + column, min(MR, rows - i),
                     columns, k0 == 0);
        k0 += KC;
    } while (k0 < K);
}
