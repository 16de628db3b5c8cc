// Square tiles of A and B in local memory: global memory is read BK times less often.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles: all equal in this rung
//
// For each tile of C, a tile of A slides along K to the right and a tile of B slides down. A work-item loads one
// element of each and uses BK of each, so global memory is read BK times less often than in `naive`.

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
        // Beyond the edges of A and B the tiles hold zeros, which add nothing. No work-item may leave early: each is
        // needed at the barriers, and for the elements that it loads for the others.
        const size_t k_of_a = first + item_n;
        const size_t k_of_b = first + item_m;
        tile_a[item_n][item_m] = row < M && k_of_a < K ? A[k_of_a * M + row] : 0;
        tile_b[item_n][item_m] = column < N && k_of_b < K ? B[column * K + k_of_b] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);  // the tiles must be there before anyone reads them

        for (int k = 0; k < BK; k++)
            sum += tile_a[k][item_m] * tile_b[item_n][k];
        barrier(CLK_LOCAL_MEM_FENCE);  // and read by all before anyone loads the next ones
    }
    if (row < M && column < N)
        C[column * M + row] = sum;
}
