// A matrix times a few columns: what counts is to read A once, at memory's speed, and to multiply all columns meanwhile.
//
// C = activation(alpha * A * B + beta * C + bias), where A lies along its rows and B has at most MOST_COLUMNS columns. As in
// gemv.cl vectors run along k, so that a row of A is used where it lies. B's columns are packed, each a run of k.
//
//      for each ROWS rows of A                       RUN vectors of each come from memory, and stay in level 1
//          for each COLUMNS columns of B             their runs of k come from level 2
//              ROWS x COLUMNS sums in registers: a vector of A is used COLUMNS times, one of B ROWS times
//
// Group (x, 0, z) does `mb` rows, at most MAX_ROWS, of matrix z, by blocks of `kb` steps of K, a multiple of VW. What is less than
// a vector at the end belongs to the block before.
//
// PACKED     elements of B that a work-item keeps packed: in its level-2 cache
#define MR 1
#define NR MOST_COLUMNS

#include "vectors.cl"
#include "pack.cl"
#include "finish.cl"

typedef JOIN(MASK, VW) Mask; // integers of the size of a REAL
typedef VECTOR(COLUMNS) Columns;

#define SUMS (ROWS * COLUMNS)
#define RUN 32


// sum[t][c] += the products of `count` vectors of row t of A and of column c of B. What is not `fresh` was multiplied before;
// both factors are masked: 0 times an infinity would be NaN.
static inline __attribute__((always_inline)) void multiply_run(vec *sum, const __global IN *const *a,
                                                               const REAL *x, int x_row, int count,
                                                               const __global IN *next, long a_row, int asked,
                                                               const int masked, Mask fresh)
{
    vec own[SUMS];
#pragma unroll
    for (int s = 0; s < SUMS; s++)
        own[s] = sum[s];
    for (int u = 0; u < count; u++) {
        vec factor[ROWS];
#pragma unroll
        for (int t = 0; t < ROWS; t++) {
            factor[t] = LOAD_IN(a[t] + u * VW);
            if (masked)
                factor[t] = fresh ? factor[t] : (vec)(0);
        }
        for (int t = 0; t < asked; t++)
            PREFETCH(next + t * a_row + u * VW);
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            vec other = LOOSE_AT(x + c * x_row + u * VW);
            if (masked)
                other = fresh ? other : (vec)(0);
#pragma unroll
            for (int t = 0; t < ROWS; t++)
                own[t * COLUMNS + c] = multiply_add(factor[t], other, own[t * COLUMNS + c]);
        }
    }
#pragma unroll
    for (int s = 0; s < SUMS; s++)
        sum[s] = own[s];
}

// The total of each vector's elements. A round adds the halves of two vectors, interleaved, to one vector; VW vectors end as one.
static inline void totals(const vec *sum, REAL *total)
{
#pragma unroll
    for (int first = 0; first < SUMS; first += VW) {
        vec block[VW];
#pragma unroll
        for (int s = 0; s < VW; s++)
            block[s] = sum[first + s];
#pragma unroll
        for (int round = 1; round <= LOG2_VW; round++) {
#pragma unroll
            for (int s = 0; s < VW >> round; s++) {
                const vec other = block[s + (VW >> round)];
                block[s] = interleave_low(block[s], other) + interleave_high(block[s], other);
            }
        }
        AT(total + first) = block[0];
    }
}

// sum[i][j] += A[i, :] * x[j, :], ROWS rows at a time; surplus rows of the last few are read as copies of the last row.
static __attribute__((noinline)) void multiply_rows(REAL *sum, const __global IN *A, long a_row, int rows, int columns,
                                                    int depth, const REAL *x, int x_row)
{
    // The last vector slides back to end at the edge.
    const int whole = depth / VW * VW, rest = depth - whole;
    REAL lane[VW] __attribute__((aligned(LINE_BYTES)));
    for (int i = 0; i < VW; i++)
        lane[i] = i >= VW - rest ? 1 : 0;
    const Mask fresh = AT(lane) != 0;
    for (int i = 0; i < rows; i += ROWS) {
        const __global IN *row[ROWS];
#pragma unroll
        for (int t = 0; t < ROWS; t++)
            row[t] = A + min(i + t, rows - 1) * a_row;
        vec own[NR * ROWS];
        for (int s = 0; s < columns * ROWS; s++)
            own[s] = 0;
        for (int k = 0; k < whole; k += RUN * VW) {
            const int count = min(RUN, (whole - k) / VW);
            const __global IN *next = k + RUN * VW < whole ? row[0] + RUN * VW : A + (i + ROWS) * a_row;
            const int asked = ROWS * COLUMNS / columns; // rows in each pass; none where the passes take longer than memory does
            for (int j = 0; j < columns; j += COLUMNS) {
                multiply_run(own + j * ROWS, row, x + j * x_row + k, x_row, count, next, a_row, asked, 0, fresh);
                next += asked * a_row;
            }
#pragma unroll
            for (int t = 0; t < ROWS; t++)
                row[t] += count * VW;
        }
        if (rest) {
#pragma unroll
            for (int t = 0; t < ROWS; t++)
                row[t] += rest - VW;
            for (int j = 0; j < columns; j += COLUMNS)
                multiply_run(own + j * ROWS, row, x + j * x_row + depth - VW, x_row, 1, A, a_row, 0, 1, fresh);
        }
        REAL total[SUMS] __attribute__((aligned(LINE_BYTES)));
        for (int j = 0; j < columns; j += COLUMNS) {
            totals(own + j * ROWS, total);
            for (int t = 0; t < min(ROWS, rows - i); t++)
                *(Columns *)(sum + (i + t) * NR + j) += *(Columns *)(total + t * COLUMNS);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm(int M, int N, int K, ACC alpha, ACC beta,
          const __global IN *restrict A, long a_offset, long a_row, long a_batch,
          const __global IN *restrict B, long b_offset, long b_row, long b_column, long b_batch,
          __global OUT *restrict C, long c_offset, long c_row, long c_column, long c_batch,
          const __global OUT *restrict bias, long bias_offset, long bias_row, long bias_column, int mb, int kb)
{
    REAL x[PACKED] __attribute__((aligned(LINE_BYTES)));
    REAL sum[MAX_ROWS * NR] __attribute__((aligned(LINE_BYTES)));
    const int i0 = get_group_id(0) * mb, rows = min(mb, M - i0);
    const int columns = (N + COLUMNS - 1) / COLUMNS * COLUMNS;
    const int x_row = kb + VW; // also, so that columns begin at different places of level 1
    A += a_offset + get_group_id(2) * a_batch + i0 * a_row;
    B += b_offset + get_group_id(2) * b_batch;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row;

    for (int i = 0; i < rows * NR; i += VW)
        AT(sum + i) = 0;
    for (int j = N; j < columns; j++)
        for (int k = 0; k < x_row; k++)
            x[j * x_row + k] = 0; // surplus columns: their sums are thrown away
    for (int k0 = 0, depth; k0 < K; k0 += depth) {
        depth = K - k0 < kb + VW ? K - k0 : kb;
        pack(x, x_row, 0, B + k0 * b_row, b_column, b_row, N, depth, 0);
        multiply_rows(sum, A + k0, a_row, rows, columns, depth, x, x_row);
    }
    const Target target = {
        .c = C, .row = c_row, .column = c_column,
#if !SCRATCH_SUMS
        .partial = C,
#endif
        .partial_row = c_row, .partial_column = c_column,
#if BIAS
        .bias = bias + bias_offset + i0 * bias_row, .bias_row = bias_row, .bias_column = bias_column,
#endif
        .alpha = alpha, .beta = beta, .first = 1, .last = 1};
    finish(sum, rows, N, 0, &target);
}
