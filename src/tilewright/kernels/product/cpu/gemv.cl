// A matrix times a vector: nothing is used twice but the vector, so that all that counts is to read A at memory's speed.
//
// C = activation(alpha * A * B + beta * C + bias), where B and C have one column. A lies along its rows (a_column is 1) or
// along its columns (a_row is 1). Group (x, 0, z) does `mb` rows, at most MAX_ROWS, of matrix z.
//
// MAX_ROWS     sums that a work-item holds, in its level-1 cache
// MAX_DEPTH    elements of the vector that it holds there, dense and as REALs
#define MR 1
#define NR MAX_ROWS

#include "vectors.cl"
#include "pack.cl"
#include "finish.cl"

typedef JOIN(MASK, VW) Mask; // integers of the size of a REAL

// Columns that are read at a time, as many streams. The next ones are asked for meanwhile, here and along the rows: that made
// products of 67 and 134 MB 1.1 to 1.6 times as fast on a Zen 4.
#define TEAM 8

// Along the rows each is read in longer runs, 16 vectors at a time. Two rows at a time are up to 14 % slower than four, one row 7 to 60 %.
#if COMPLEX
#define ROWS TEAM
#else
#define ROWS 4
#endif
#define RUN 16
#define CHAINS 4 // sums per row within a run, so that one multiply-add need not wait for the one before

static REAL total(vec values)
{
#pragma unroll
    for (int round = 0; round < LOG2_VW; round++)
        values = evens(values, values) + odds(values, values);
    return values.s0;
}

// The products of RUN vectors, added up to one.
static inline vec run_of_products(const __global IN *a, const REAL *x)
{
    vec sum[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum[c] = 0;
#pragma unroll
    for (int u = 0; u < RUN; u++)
        sum[u % CHAINS] = multiply_add(PART(a + u * VW, 0), LOOSE_AT(x + u * VW), sum[u % CHAINS]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// sum[i] += A[i, :] * x[:], ROWS rows at a time; surplus rows of the last few are read as copies of the last row.
static __attribute__((noinline)) void along_rows(REAL *sum, const __global IN *A, long a_row, int rows, int depth,
                                                 const REAL *x, REAL sign)
{
    // The last vector slides back to end at the edge; of it, only the elements not seen before may count.
    const int whole = depth / VW * VW;
    REAL lane[VW] __attribute__((aligned(LINE_BYTES)));
    for (int i = 0; i < VW; i++)
        lane[i] = depth - VW + i >= whole ? 1 : 0;
    const Mask fresh = AT(lane) != 0;
    for (int i = 0; i < rows; i += ROWS) {
        vec real[ROWS];
#if COMPLEX
        vec imaginary[ROWS];
#endif
#pragma unroll
        for (int t = 0; t < ROWS; t++) {
            real[t] = 0;
#if COMPLEX
            imaginary[t] = 0;
#endif
        }
        int k = 0;
#if !COMPLEX
        for (; k + RUN * VW <= depth; k += RUN * VW) {
#pragma unroll
            for (int t = 0; t < ROWS; t++) {
                const __global IN *a = A + min(i + t, rows - 1) * a_row + k;
                real[t] += run_of_products(a, x + k);
#pragma unroll
                for (int u = 0; u < RUN; u++)
                    PREFETCH(a + ROWS * a_row + u * VW);
            }
        }
#endif
        for (; k < depth && depth >= VW; k += VW) {
            const int at = min(k, depth - VW);
            vec x_real = LOOSE_AT(x + at);
            if (at != k) // both factors are masked: 0 times an infinity would be NaN
                x_real = fresh ? x_real : (vec)(0);
#if COMPLEX
            vec x_imaginary = LOOSE_AT(x + MAX_DEPTH + at);
            if (at != k)
                x_imaginary = fresh ? x_imaginary : (vec)(0);
#endif
#pragma unroll
            for (int t = 0; t < ROWS; t++) {
                const __global IN *a = A + min(i + t, rows - 1) * a_row + at;
                vec factor = PART(a, 0);
                if (at != k)
                    factor = fresh ? factor : (vec)(0);
                real[t] = multiply_add(factor, x_real, real[t]);
#if COMPLEX
                imaginary[t] = fma(factor, x_imaginary, imaginary[t]);
                factor = PART(a, 1) * sign;
                if (at != k)
                    factor = fresh ? factor : (vec)(0);
                real[t] = fma(-factor, x_imaginary, real[t]);
                imaginary[t] = fma(factor, x_real, imaginary[t]);
#endif
            }
        }
#pragma unroll
        for (int t = 0; t < ROWS; t++) {
            if (i + t < rows) {
                sum[i + t] += total(real[t]);
#if COMPLEX
                sum[NR + i + t] += total(imaginary[t]);
#endif
            }
        }
    }
}

// The same by the element: what is shorter than a vector, or has other strides.
static void by_element(REAL *sum, const __global IN *A, long a_row, long a_column, int rows, int depth, const REAL *x,
                       REAL sign)
{
    for (int k = 0; k < depth; k++) {
        for (int i = 0; i < rows; i++) {
            const __global IN *a = A + i * a_row + k * a_column;
            const REAL real = PART_OF_ELEMENT(a, 0);
            sum[i] += real * x[k];
#if COMPLEX
            const REAL imaginary = PART_OF_ELEMENT(a, 1) * sign;
            sum[i] -= imaginary * x[MAX_DEPTH + k];
            sum[NR + i] += real * x[MAX_DEPTH + k] + imaginary * x[k];
#endif
        }
    }
}

// sum[:] += A[:, k] * x[k], TEAM columns at a time, so that a sum is loaded and stored once for TEAM multiply-adds.
static __attribute__((noinline)) void along_columns(REAL *sum, const __global IN *A, long a_column, int rows, int depth,
                                                    const REAL *x, REAL sign)
{
    const int whole = rows / VW * VW, teams = depth / TEAM * TEAM;
    for (int k = 0; k < teams; k += TEAM) {
        for (int i = 0; i < whole; i += VW) {
            vec real = AT(sum + i);
#if COMPLEX
            vec imaginary = AT(sum + NR + i);
#endif
#pragma unroll
            for (int t = 0; t < TEAM; t++) {
                const __global IN *a = A + i + (k + t) * a_column;
                const vec factor = PART(a, 0);
                PREFETCH(a + TEAM * a_column);
                real = multiply_add(factor, x[k + t], real);
#if COMPLEX
                const vec other = PART(a, 1) * sign;
                real = fma(-other, (vec)(x[MAX_DEPTH + k + t]), real);
                imaginary = fma(factor, (vec)(x[MAX_DEPTH + k + t]), imaginary);
                imaginary = fma(other, (vec)(x[k + t]), imaginary);
#endif
            }
            AT(sum + i) = real;
#if COMPLEX
            AT(sum + NR + i) = imaginary;
#endif
        }
    }
    by_element(sum, A + teams * a_column, 1, a_column, whole, depth - teams, x + teams, sign);
    by_element(sum + whole, A + whole, 1, a_column, rows - whole, depth, x, sign);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemv(int M, int K, ACC alpha, ACC beta,
          const __global IN *restrict A, long a_offset, long a_row, long a_column, long a_batch, int a_conjugate,
          const __global IN *restrict B, long b_offset, long b_row, long b_batch, int b_conjugate,
          __global OUT *restrict C, long c_offset, long c_row, long c_batch,
          const __global OUT *restrict bias, long bias_offset, long bias_row, int mb)
{
    REAL x[PARTS * MAX_DEPTH] __attribute__((aligned(LINE_BYTES)));
    REAL sum[PARTS * MAX_ROWS] __attribute__((aligned(LINE_BYTES)));
    const int i0 = get_group_id(0) * mb, rows = min(mb, M - i0);
    const REAL sign = a_conjugate ? -1 : 1;
    A += a_offset + get_group_id(2) * a_batch + i0 * a_row;
    B += b_offset + get_group_id(2) * b_batch;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row;

    for (int i = 0; i < PARTS * MAX_ROWS; i++)
        sum[i] = 0;
    for (int k0 = 0; k0 < K; k0 += MAX_DEPTH) {
        const int depth = min(MAX_DEPTH, K - k0);
        const __global IN *a = A + k0 * a_column;
        pack(x, 0, MAX_DEPTH, B + k0 * b_row, 0, b_row, 1, depth, b_conjugate);
        if (a_column == 1 && depth >= VW)
            along_rows(sum, a, a_row, rows, depth, x, sign);
        else if (a_row == 1)
            along_columns(sum, a, a_column, rows, depth, x, sign);
        else
            by_element(sum, a, a_row, a_column, rows, depth, x, sign);
    }
    const Target target = {
        .c = C, .row = 0, .column = c_row,
#if !SCRATCH_SUMS
        .partial = C,
#endif
        .partial_row = 0, .partial_column = c_row,
#if BIAS
        .bias = bias + bias_offset + i0 * bias_row, .bias_row = 0, .bias_column = bias_row,
#endif
        .alpha = alpha, .beta = beta, .first = 1, .last = 1};
    finish(sum, 1, rows, 0, &target); // as one row that lies along C's column
}
