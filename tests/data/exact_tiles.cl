// fp16x3/fallback.cl by itself, for devices without tensor cores: a work-group for each tile of C.
//
// The macros CUT and EXACT name the files of the kernels' folder.

#include "ELEMENTS"
#include "EPILOGUE"
#include "CUT"

#define EXACT_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#include "EXACT"

__kernel __attribute__((reqd_work_group_size(EXACT_ITEMS, 1, 1)))
void exact_tiles(const int M, const int N, const int K, const ACC alpha, const ACC beta, const __global int2* ranges_a,
                 const __global int2* ranges_b, const __global float* A, const long a_row, const long a_column,
                 const __global float* B, const long b_row, const long b_column,
                 __global RESULT* C, const long c_row, const long c_column,
                 const __global RESULT* bias, const long bias_row, const long bias_column)
{
    __local float panels[EXACT_PANELS];
    __local int shared;
    const int m = get_group_id(0) * BM, n = get_group_id(1) * BN;
    const Tile tile = {A + m * a_row, B + n * b_column, C + m * c_row + n * c_column, bias + m * bias_row + n * bias_column,
                       ranges_a + m, ranges_b + n, min(BM, M - m), min(BN, N - n)};
    exact_tile(tile, get_local_id(0), K, alpha, beta, a_row, a_column, b_row, b_column, c_row, c_column, bias_row, bias_column,
               panels, &shared);
}
