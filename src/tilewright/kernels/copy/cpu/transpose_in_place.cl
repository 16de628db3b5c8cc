// An in-place transpose on a CPU: blocks opposite each other across the diagonal are transposed in registers and
// swapped.
//
// The macros are explained in blocks.cl. A block is one cache line wide and high. A work-group computes a tile of
// `blocks` by `blocks` blocks and the tile opposite. Of `tiles` x `tiles` tiles, the pairs on and above the diagonal
// are folded into a rectangle, as in copy/transpose_in_place.cl. The remaining rows and columns are swapped one element
// at a time.

#include "blocks.cl"

// Stores the transpose of the block at `below` in `above`, and that of `above` in `below`. Both may be one block.
static void transpose_blocks(__global Element* above, __global Element* below, long row)
{
    Element held[LINE * LINE] __attribute__((aligned(64)));
    // Private memory of a CPU is ordinary memory, but OpenCL C has no generic pointers before version 2.
    __global Element* kept = (__global Element*)(ulong)held;
    for (int i = 0; i < LINE; i++)
        for (int piece = 0; piece < PIECES; piece++)
            *(__global vec*)(kept + i * LINE + piece * VW) =
                *(const __global loose_vec*)(above + i * row + piece * VW);
    for (int piece = 0; piece < PIECES && above != below; piece++)
        block(below + piece * VW, row, above + piece * VW * row, row);
    for (int piece = 0; piece < PIECES; piece++)
        block(kept + piece * VW, LINE, below + piece * VW * row, row);
}

// Swaps the elements of rows `begin` to `end` that lie left of the diagonal with those opposite to them.
static void transpose_rows(__global Element* matrix, long row, int begin, int end)
{
    for (int i = begin; i < end; i++)
        for (int j = 0; j < i; j++) {
            const Element kept = matrix[i * row + j];
            matrix[i * row + j] = matrix[j * row + i];
            matrix[j * row + i] = kept;
        }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void transpose_in_place(const int rows, __global void* matrix, const long matrix_offset,
                        const long matrix_row, const long matrix_batch, const int blocks)
{
    __global Element* own = (__global Element*)matrix + matrix_offset + get_group_id(2) * matrix_batch;
    const int whole = rows / LINE * LINE, side = blocks * LINE;  // the side that blocks cover, and a tile's side
    const int tiles = ((rows + side - 1) / side + 1) / 2 * 2;
    const int r = get_group_id(0) / (tiles + 1), c = get_group_id(0) % (tiles + 1);
    const int upper = (c > r ? r : tiles - 1 - r) * side, lower = (c > r ? c - 1 : tiles - 1 - c) * side;
    for (int i = upper; i < min(upper + side, whole); i += LINE)
        for (int j = max(lower, i); j < min(lower + side, whole); j += LINE)
            transpose_blocks(own + i * matrix_row + j, own + j * matrix_row + i, matrix_row);
    if (upper == lower)
        transpose_rows(own, matrix_row, max(upper, whole), min(upper + side, rows));
}
