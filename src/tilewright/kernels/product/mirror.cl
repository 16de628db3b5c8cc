// Completes a symmetric matrix: what lies below the diagonal is copied to above it, tile by tile.
//
// The macros are explained in ../copy/transpose_tile.cl. Tiles are square, and the pairs below and on the diagonal are folded
// into a rectangle as in ../copy/transpose_in_place.cl. Of a tile on the diagonal only what is above is stored, by elements: its
// own sums there may differ in the last bits. Work-groups: dimensions 0 and 1 the columns and rows of the rectangle; dimension 2 the batch.

#include "../copy/transpose_tile.cl"

// An element of a tile in local memory.
INLINE ELEMENT element_of(const local WORD* tile, const int row, const int column)
{
    const WORD word = tile[row / MERGE * PITCH + COLUMN(column)];
#if MERGE > 1
    return (ELEMENT)(word >> 8 * sizeof(ELEMENT) * (row % MERGE));
#else
    return word;
#endif
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void mirror(const int M, __global ELEMENT* C, const long c_offset, const long c_row, const long c_column, const long c_batch)
{
    __local WORD tile[LINES * PITCH];

    const int tiles = ((M + TILE_ROWS - 1) / TILE_ROWS + 1) / 2 * 2;
    const int r = get_group_id(1), c = get_group_id(0);
    const int upper = (c > r ? r : tiles - 1 - r) * TILE_ROWS, lower = (c > r ? c - 1 : tiles - 1 - c) * TILE_ROWS;
    if (lower >= M)  // the tile that makes the number even; upper <= lower
        return;
    C += c_offset + get_group_id(2) * c_batch;
    HELD held[LOADS][MERGE][HELD_COUNT];
    load_tile(held, C + lower * c_row + upper * c_column, M - lower, M - upper, c_row, c_column);
    put_tile(tile, held);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (upper == lower) {
        barrier(CLK_GLOBAL_MEM_FENCE);  // others have loaded what is stored here
        const int side = min(TILE_ROWS, M - lower);
        C += lower * (c_row + c_column);
        for (int place = get_local_id(0); place < TILE_ROWS * TILE_ROWS; place += ITEMS) {
            const int row = place / TILE_ROWS, column = place % TILE_ROWS;  // of the element above the diagonal
            if (row < column && column < side)
                C[row * c_row + column * c_column] = element_of(tile, column, row);
        }
        return;
    }
    store_tile(C + upper * c_row + lower * c_column, tile, M - lower, M - upper, c_column, c_row);
}
