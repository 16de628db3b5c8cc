// B is transposed first, so tiles need not be square, and a small BK saves local memory.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles
// TN          columns of C that a work-item computes, BN / TN apart
// PAD         elements that no one uses at the end of each row of tile_b
//
// Loads must run along the contiguous side of a matrix: M for A, K for B. While both tiles were square, BM work-items
// in a row could do either. With BK below BM they would have to walk B in short pieces; with B transposed, N is the
// contiguous side and A and B are loaded alike. BK is then free, and a small one leaves local memory to more groups.
//
// A row of work-items now fills a column of tile_b, with a stride of one row. Rows of 16 words would put 32 stores
// into two banks of local memory, to wait for each other; the pad of 2 spreads them over 16, an odd one over all 32.

#define ITEMS (BM * (BN / TN))  // work-items of a group
#define ITEMS_N (BN / TN)       // of them along N

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* BT, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const int item = item_n * BM + item_m;
    const size_t first_row = get_group_id(0) * BM;
    const size_t first_column = get_group_id(1) * BN;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BN][BK + PAD];
    REAL sum[TN] = {0};
    for (size_t first = 0; first < K; first += BK) {
        // The work-items take the elements of a tile in turn, whatever its sides: numbered along its contiguous side.
        for (int i = item; i < BK * BM; i += ITEMS) {
            const size_t row = first_row + i % BM;
            const size_t k = first + i / BM;
            tile_a[i / BM][i % BM] = row < M && k < K ? A[k * M + row] : 0;
        }
        for (int i = item; i < BK * BN; i += ITEMS) {
            const size_t column = first_column + i % BN;
            const size_t k = first + i / BN;
            tile_b[i % BN][i / BN] = column < N && k < K ? BT[k * N + column] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++) {
            const REAL a = tile_a[k][item_m];
#pragma unroll
            for (int n = 0; n < TN; n++)
                sum[n] += a * tile_b[item_n + n * ITEMS_N][k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (int n = 0; n < TN; n++) {
        const size_t row = first_row + item_m;
        const size_t column = first_column + item_n + n * ITEMS_N;
        if (row < M && column < N)
            C[column * M + row] = sum[n];
    }
}
