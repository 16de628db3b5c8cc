// An in-place transpose of a square matrix: a work-group swaps two tiles opposite each other across the diagonal.
//
// The macros are explained in transpose_tile.cl; tiles are square, TILE_ROWS = TILE_COLUMNS. Both tiles are in
// registers before the first is stored. They go through local memory one after the other. Of `tiles` x `tiles` tiles,
// the pairs on and above the diagonal are folded into a rectangle. Its row r holds the tiles of row r from the diagonal
// on, and before them those of row tiles - 1 - r. Work-groups: dimensions 0 and 1 the columns and rows of the
// rectangle; dimension 2 the batch.

#include "transpose_tile.cl"

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void transpose_in_place(const int rows, __global ELEMENT* matrix, const long matrix_offset,
                        const long matrix_row, const long matrix_column, const long matrix_batch)
{
    __local WORD tile[LINES * PITCH];

    // An even number: two rows of tiles make one row of the rectangle.
    const int tiles = ((rows + TILE_ROWS - 1) / TILE_ROWS + 1) / 2 * 2;
    const int r = get_group_id(1), c = get_group_id(0);
    const int upper = (c > r ? r : tiles - 1 - r) * TILE_ROWS, lower = (c > r ? c - 1 : tiles - 1 - c) * TILE_ROWS;
    if (lower >= rows)  // the tile that makes the number even; upper <= lower
        return;
    matrix += matrix_offset + get_group_id(2) * matrix_batch;
    __global ELEMENT* above = matrix + upper * matrix_row + lower * matrix_column;
    __global ELEMENT* below = matrix + lower * matrix_row + upper * matrix_column;

    HELD held[LOADS][MERGE][HELD_COUNT], other[LOADS][MERGE][HELD_COUNT];
    load_tile(held, above, rows - upper, rows - lower, matrix_row, matrix_column);
    if (upper != lower)
        load_tile(other, below, rows - lower, rows - upper, matrix_row, matrix_column);
    put_tile(tile, held);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all reads of both tiles come before the first store
    store_tile(below, tile, rows - upper, rows - lower, matrix_column, matrix_row);
    if (upper == lower)
        return;
    barrier(CLK_LOCAL_MEM_FENCE);
    put_tile(tile, other);
    barrier(CLK_LOCAL_MEM_FENCE);
    store_tile(above, tile, rows - lower, rows - upper, matrix_column, matrix_row);
}
