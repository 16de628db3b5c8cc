// The baseline without tensor cores: fp16 operands, plain multiply-adds and sums in fp32.
//
// BM, BN, BK  the tile of C that a work-group computes, and the depth of its tiles of A and B
// TM, TN      rows and columns of C that a work-item computes, in pairs that lie 2 * BM / TM and 2 * BN / TN apart
//
// C (M x N) = A (M x K) * B (K x N), A and C by rows and B by columns, so that A and B both lie along K. Sums are
// fp32, rounded to fp16 once. M, N and K are multiples of the tiles. Any device can do this, without fp16 arithmetic.

#include "result.cl"

#define ITEMS_N (BN / TN)
#define ITEMS (BM / TM * ITEMS_N)

// Eight elements of a row of `from`, beginning at element number `first`, as fp32 down a column of `tile`.
#define LOAD8(tile, row, k, from, first)                       \
    {                                                          \
        float eight[8];                                        \
        vstore8(vloada_half8((first) / 8, from), 0, eight);    \
        for (int e = 0; e < 8; e++)                            \
            tile[(k) + e][row] = eight[e];                     \
    }

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const __global half* A, const __global half* B, __global RESULT* C)
{
    __local float tile_a[BK][BM + 2] __attribute__((aligned(8)));
    __local float tile_b[BK][BN + 2] __attribute__((aligned(8)));

    const int item = get_local_id(0);
    const size_t first_row = get_group_id(1) * BM, first_column = get_group_id(0) * BN;
    const int item_row = item / ITEMS_N * 2, item_column = item % ITEMS_N * 2;

    float sum[TM][TN] = {{0}};
    for (int first = 0; first < K; first += BK) {
        barrier(CLK_LOCAL_MEM_FENCE);  // all reads of the tiles are done
#pragma unroll
        for (int load = 0; load < BM * BK / 8 / ITEMS; load++) {
            const int row = (item + load * ITEMS) / (BK / 8), k = (item + load * ITEMS) % (BK / 8) * 8;
            LOAD8(tile_a, row, k, A, (first_row + row) * K + first + k);
        }
#pragma unroll
        for (int load = 0; load < BN * BK / 8 / ITEMS; load++) {
            const int row = (item + load * ITEMS) / (BK / 8), k = (item + load * ITEMS) % (BK / 8) * 8;
            LOAD8(tile_b, row, k, B, (first_column + row) * K + first + k);
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
#pragma unroll
            for (int m = 0; m < TM; m += 2)
                vstore2(*(const local float2*)&tile_a[k][item_row + m * (BM / TM)], 0, a + m);
#pragma unroll
            for (int n = 0; n < TN; n += 2)
                vstore2(*(const local float2*)&tile_b[k][item_column + n * (BN / TN)], 0, b + n);
#pragma unroll
            for (int m = 0; m < TM; m++)
#pragma unroll
                for (int n = 0; n < TN; n++)
                    sum[m][n] += a[m] * b[n];
        }
    }

#pragma unroll
    for (int m = 0; m < TM; m++)
#pragma unroll
        for (int n = 0; n < TN; n += 2) {
            const size_t row = first_row + item_row + m / 2 * 2 * (BM / TM) + m % 2;
            const size_t column = first_column + item_column + n * (BN / TN);
            STORE2(MAKE2(float, sum[m][n], sum[m][n + 1]), C + row * N + column);
        }
}
