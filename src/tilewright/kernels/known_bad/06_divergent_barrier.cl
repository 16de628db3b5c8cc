// Wrong: work-items beyond the edge of C return before the barriers, where the others then wait for them.
//
// `tiles/tiled` with the guard of `naive`. It works as long as M and N are multiples of the tile.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles: all equal

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const size_t row = get_group_id(0) * BM + item_m;
    const size_t column = get_group_id(1) * BN + item_n;
    if (row >= M || column >= N)
        return;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BN][BK];
    REAL sum = 0;
    for (size_t first = 0; first < K; first += BK) {
        const size_t k_of_a = first + item_n;
        const size_t k_of_b = first + item_m;
        tile_a[item_n][item_m] = k_of_a < K ? A[k_of_a * M + row] : 0;
        tile_b[item_n][item_m] = k_of_b < K ? B[column * K + k_of_b] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++)
            sum += tile_a[k][item_m] * tile_b[item_n][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[column * M + row] = sum;
}
