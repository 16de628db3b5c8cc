// Wrong: beyond the edges nothing is stored into the tiles, so the product reads uninitialised elements.
//
// `tiles/tiled` without the zeros. It works as long as the sizes are multiples of the tile, and often beyond that,
// as long as local memory happens to hold zeros, or numbers that only reach elements which are not stored.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles: all equal

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const size_t row = get_group_id(0) * BM + item_m;
    const size_t column = get_group_id(1) * BN + item_n;

    __local REAL tile_a[BK][BM];
    __local REAL tile_b[BN][BK];
    REAL sum = 0;
    for (size_t first = 0; first < K; first += BK) {
        const size_t k_of_a = first + item_n;
        const size_t k_of_b = first + item_m;
        if (row < M && k_of_a < K)
            tile_a[item_n][item_m] = A[k_of_a * M + row];
        if (column < N && k_of_b < K)
            tile_b[item_n][item_m] = B[column * K + k_of_b];
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++)
            sum += tile_a[k][item_m] * tile_b[item_n][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < M && column < N)
        C[column * M + row] = sum;
}
