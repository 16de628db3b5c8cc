// The production kernel: a tile of C for each work-group.
//
// The macros are explained in tile.cl. Work-groups: dimension 0 the tiles of C, 1 the parts of K (k_chunk deep; part i
// writes at C + i * c_split), 2 the batch.

#include "tile.cl"

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm(const int M, const int N, const int K, const int k_chunk, const ACC alpha, const ACC beta,
          const __global STORED* restrict A, const long a_offset, const long a_row, const long a_column, const long a_batch,
          const __global STORED* restrict B, const long b_offset, const long b_row, const long b_column, const long b_batch,
          __global RESULT* restrict C, const long c_offset, const long c_row, const long c_column, const long c_batch,
          const long c_split, const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column)
{
    __local COMPONENT panels[LOCAL_COMPONENTS] __attribute__((aligned(128)));

    const int2 tile = tile_coordinates(get_group_id(0), M, N) * MAKE2(int, BM, BN);
    const long batch = get_group_id(2), k_begin = (long)get_group_id(1) * k_chunk;
    const int depth = max((int)min((long)k_chunk, K - k_begin), 0);
    A += (a_offset + batch * a_batch + tile.x * a_row + k_begin * a_column) * PARTS;
    B += (b_offset + batch * b_batch + tile.y * b_column + k_begin * b_row) * PARTS;

    COMPONENT sum[TM][TN * PARTS];
    compute_tile(sum, panels, depth, A, M - tile.x, a_row, a_column, B, N - tile.y, b_row, b_column);
    store_tile(sum, panels, tile, M, N, alpha, beta, C + (c_offset + batch * c_batch + get_group_id(1) * c_split) * PARTS, c_row,
               c_column, bias + bias_offset * PARTS, bias_row, bias_column);
}
