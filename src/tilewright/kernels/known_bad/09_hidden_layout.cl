// Wrong: B is read as if it lay by columns, which matrices of one constant value hide: all their orders are equal.
//
// A tiled product of matrices by rows, tested with constant matrices, as the articles on tilings tested theirs. It
// computes A B^T if N = K, never leaves a buffer, reads every element, and breaks no rule of memory.
//
// BM, BN, BK  rows and columns of C that a work-group computes, and the depth of its tiles: all equal

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    const size_t row = get_group_id(0) * BM + item_m;
    const size_t column = get_group_id(1) * BN + item_n;

    __local REAL tile_a[BM][BK];
    __local REAL tile_b[BK][BN];
    REAL sum = 0;
    for (size_t first = 0; first < K; first += BK) {
        const size_t k_of_a = first + item_n;
        const size_t k_of_b = first + item_m;
        tile_a[item_m][item_n] = row < M && k_of_a < K ? A[row * K + k_of_a] : 0;
        tile_b[item_m][item_n] = column < N && k_of_b < K ? B[column * K + k_of_b] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < BK; k++)
            sum += tile_a[item_m][k] * tile_b[k][item_n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < M && column < N)
        C[row * N + column] = sum;
}
