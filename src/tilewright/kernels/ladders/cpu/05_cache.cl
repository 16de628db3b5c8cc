// A block of B is packed for the L2 cache and MR rows of A for the L1 cache: both are reused.
//
// VW    elements of a vector: as many as fill a register of the machine
// MR    rows of C that are computed in registers at a time
// NV    vectors of a row of C that are computed in registers at a time
// BM    rows of C per work-item
// BN    columns of C per work-item
// KC    steps of K for which A and B are packed at a time
//
// The fast caches now hold what is used again: MR rows of A for all panels of the block, the block for all rows. What
// streams from level 2 is B, and each of its elements serves MR multiply-adds: 10 bytes a cycle, a sixth of what level
// 2 can give. Memory is read BM and BN times less often than the arithmetic asks for its data.

typedef VECTOR(VW) vec;
// A vector at any element's address. Reading a plain `vec` promises an address that is a multiple of the vector's size,
// and breaking that promise ends in a fault.
typedef vec loose_vec __attribute__((aligned(sizeof(REAL))));

#define NR (NV * VW)
#define A_ROW (KC + VW)  // rows of A do not start a multiple of 4096 bytes apart: they would share cache sets

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
static __attribute__((noinline)) void multiply(const int N, const int depth, const REAL* A,
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
            const REAL a = A[i * A_ROW + k];
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
    REAL block[KC * BN] __attribute__((aligned(64)));
    REAL packed[MR * A_ROW] __attribute__((aligned(64)));
    const size_t row = get_global_id(1) * BM;
    const size_t column = get_global_id(0) * BN;
    if (row >= M || column >= N)
        return;  // the NDRange is rounded up to whole work-groups
    const int rows = min(BM, (int)(M - row));
    const int columns = min(BN, (int)(N - column));

    int k0 = 0;
    do {  // once even if K is 0, to store zeros
        const int depth = min(KC, K - k0);
        // A ragged panel is filled up with zeros, so that only the store at the end has to know.
        for (int j0 = 0; j0 < columns; j0 += NR)
            for (int k = 0; k < depth; k++)
                for (int j = 0; j < NR; j++)
                    block[j0 * depth + k * NR + j] = j0 + j < columns ? B[(k0 + k) * (size_t)N + column + j0 + j] : 0;
        for (int i = 0; i < rows; i += MR) {
            // Rows past the last one are copies of it: what they give is not stored.
            for (int r = 0; r < MR; r++)
                for (int k = 0; k < depth; k++)
                    packed[r * A_ROW + k] = A[(row + min(i + r, rows - 1)) * K + k0 + k];
            for (int j = 0; j < columns; j += NR)
                multiply(N, depth, packed, block + j * depth, C + (row + i) * N + column + j, min(MR, rows - i),
                         columns - j, k0 == 0);
        }
        k0 += KC;
    } while (k0 < K);
}
