// The elements of C that product.cl leaves, as halves cannot hold their vectors, multiplied as floats.
//
// BM, BN, BK  the tile of C that a work-group computes if any of it was left, and how deep its panels are
// TM, TN      the tile of a work-item
// BLOCK       steps of k that are summed by themselves, so that fewer roundings follow each other
// TOGETHER    elements of a row that product.cl stores together, and leaves together

#include "../gemm/elements.cl"
#include "../gemm/epilogue.cl"
#include "cut.cl"

#define ITEMS ((BM / TM) * (BN / TN))
#define COLUMNS (BN / TN)  // of work-items

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void exact(const int M, const int N, const int K, const ACC alpha, const ACC beta, const __global int2* ranges_a,
           const int a_moves, const __global int2* ranges_b, const int b_moves,
           const __global float* A, const long a_offset, const long a_row, const long a_column, const long a_batch,
           const __global float* B, const long b_offset, const long b_row, const long b_column, const long b_batch,
           __global RESULT* C, const long c_offset, const long c_row, const long c_column, const long c_batch,
           const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column)
{
    __local float a_panel[BK][BM + 1], b_panel[BK][BN + 1];
    __local int any_small, any_left;
    const int item = get_local_id(0), batch = get_group_id(2);
    const int2 place = (int2)(get_group_id(0) * BM, get_group_id(1) * BN);
    ranges_a += (long)batch * a_moves * M;
    ranges_b += (long)batch * b_moves * N;

    // A tile is quickly seen to have nothing left: if no vector has small elements.
    if (item == 0)
        any_small = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < BM + BN; i += ITEMS) {
        const int of_b = i >= BM, vector = of_b ? place.y + i - BM : place.x + i;
        if (vector < (of_b ? N : M) && (of_b ? ranges_b : ranges_a)[vector].y & 0xff)
            any_small = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!any_small)
        return;

    // Then element by element.
    const int x = item % COLUMNS, y = item / COLUMNS;
    int left[TM][TN], any = 0;
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) {
            const int m = place.x + y + i * (BM / TM), n = place.y + x + j * COLUMNS;
            left[i][j] = 0;
            if (m < M && n < N)
#pragma unroll
                for (int other = 0; other < TOGETHER; other++)
                    left[i][j] |= needs_floats(ranges_a[m], ranges_b[n / TOGETHER * TOGETHER + other]);
            any |= left[i][j];
        }
    if (item == 0)
        any_left = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (any)
        any_left = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!any_left)
        return;

    A += a_offset + batch * a_batch;
    B += b_offset + batch * b_batch;
    float sum[TM][TN], block_sum[TM][TN];
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            sum[i][j] = block_sum[i][j] = 0;
    for (int first = 0; first < K; first += BK) {
        for (int i = item; i < BM * BK; i += ITEMS) {
            const int m = place.x + i / BK, k = first + i % BK;
            a_panel[i % BK][i / BK] = m < M && k < K ? A[m * a_row + k * a_column] : 0.0f;
        }
        for (int i = item; i < BN * BK; i += ITEMS) {
            const int n = place.y + i % BN, k = first + i / BN;
            b_panel[i / BN][i % BN] = n < N && k < K ? B[k * b_row + n * b_column] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; i++)
                a[i] = a_panel[k][y + i * (BM / TM)];
#pragma unroll
            for (int j = 0; j < TN; j++)
                b[j] = b_panel[k][x + j * COLUMNS];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    block_sum[i][j] = fma(a[i], b[j], block_sum[i][j]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (first % BLOCK == BLOCK - BK || first + BK >= K)
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) {
                    sum[i][j] += block_sum[i][j];
                    block_sum[i][j] = 0;
                }
    }

    C += c_offset + batch * c_batch;
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) {
            const int m = place.x + y + i * (BM / TM), n = place.y + x + j * COLUMNS;
            if (left[i][j])
                finish(sum[i] + j, alpha, beta, C + m * c_row + n * c_column,
                       bias + bias_offset + m * bias_row + n * bias_column, bias_column);
        }
}
