// A matrix times a vector, each element one chain of fused multiply-adds in ascending k: as gemv.cl, but lanes are rows.
//
// gemv.cl sums a row in the lanes of several vectors, which are added up at its end. Here a vector has one sum for each of VW
// rows. Where A lies along its rows, blocks of VW x VW are transposed in registers first: it takes some 64 cycles for 1 KiB, in
// which memory delivers less. The groups, MAX_ROWS and MAX_DEPTH are those of gemv.cl.
#define MR 1
#define NR MAX_ROWS

#include "vectors.cl"
#include "pack.cl"
#include "finish_chain.cl"

#define TEAM 4 // columns that are read at a time: as many streams, each of which the hardware foresees
#define AHEAD 256 // elements: so many streams are more than the hardware foresees, so that each row is asked for in advance

// By the element: what is shorter than a vector, or has other strides.
static void by_element(REAL *sum, const __global IN *A, long a_row, long a_column, int rows, int depth, const REAL *x)
{
    for (int k = 0; k < depth; k++)
        for (int i = 0; i < rows; i++)
            sum[i] = fma(GET_IN(A + i * a_row + k * a_column), x[k], sum[i]);
}

// sum[i] += A[i, :] * x[:], VW rows at a time; surplus rows of the last few are read as copies of the last row.
static __attribute__((noinline)) void along_rows(REAL *sum, const __global IN *A, long a_row, int rows, int depth, const REAL *x)
{
    const int whole = depth / VW * VW;
    for (int i = 0; i < rows; i += VW) {
        vec own = AT(sum + i);
        for (int k = 0; k < whole; k += VW) {
            vec block[VW];
#pragma unroll
            for (int t = 0; t < VW; t++) {
                const __global IN *a = A + min(i + t, rows - 1) * a_row + k;
                block[t] = LOAD_IN(a);
                PREFETCH(a + AHEAD);
            }
            transpose(block);
#pragma unroll
            for (int t = 0; t < VW; t++)
                own = multiply_add(block[t], (vec)(x[k + t]), own);
        }
        AT(sum + i) = own;
    }
    by_element(sum, A + whole, a_row, 1, rows, depth - whole, x + whole);
}

// The same for columns, TEAM of them at a time, so that a sum is loaded and stored once for TEAM multiply-adds.
static __attribute__((noinline)) void along_columns(REAL *sum, const __global IN *A, long a_column, int rows, int depth,
                                                    const REAL *x)
{
    const int whole = rows / VW * VW, teams = depth / TEAM * TEAM;
    for (int k = 0; k < teams; k += TEAM) {
        for (int i = 0; i < whole; i += VW) {
            vec own = AT(sum + i);
#pragma unroll
            for (int t = 0; t < TEAM; t++)
                own = multiply_add(LOAD_IN(A + i + (k + t) * a_column), (vec)(x[k + t]), own);
            AT(sum + i) = own;
        }
    }
    by_element(sum, A + teams * a_column, 1, a_column, whole, depth - teams, x + teams);
    by_element(sum + whole, A + whole, 1, a_column, rows - whole, depth, x);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemv(int M, int K, ACC alpha, ACC beta,
          const __global IN *restrict A, long a_offset, long a_row, long a_column, long a_batch,
          const __global IN *restrict B, long b_offset, long b_row, long b_batch,
          __global OUT *restrict C, long c_offset, long c_row, long c_batch,
          const __global OUT *restrict bias, long bias_offset, long bias_row, int mb)
{
    REAL x[MAX_DEPTH] __attribute__((aligned(LINE_BYTES)));
    REAL sum[MAX_ROWS + VW] __attribute__((aligned(LINE_BYTES))); // surplus rows have sums, too
    const int i0 = get_group_id(0) * mb, rows = min(mb, M - i0);
    A += a_offset + get_group_id(2) * a_batch + i0 * a_row;
    B += b_offset + get_group_id(2) * b_batch;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row;

    for (int i = 0; i < MAX_ROWS + VW; i++)
        sum[i] = 0;
    for (int k0 = 0; k0 < K; k0 += MAX_DEPTH) {
        const int depth = min(MAX_DEPTH, K - k0);
        const __global IN *a = A + k0 * a_column;
        pack(x, 0, MAX_DEPTH, B + k0 * b_row, 0, b_row, 1, depth, 0);
        if (a_column == 1 && rows >= VW / 2)
            along_rows(sum, a, a_row, rows, depth, x);
        else if (a_row == 1)
            along_columns(sum, a, a_column, rows, depth, x);
        else
            by_element(sum, a, a_row, a_column, rows, depth, x);
    }
    const Target target = {
        .c = C, .row = 0, .column = c_row,
#if BIAS
        .bias = bias + bias_offset + i0 * bias_row, .bias_row = 0, .bias_column = bias_row,
#endif
        .alpha = alpha, .beta = beta};
    finish_chain(sum, 1, rows, 0, &target); // as one row that lies along C's column
}
