// copy.cl for bytes and shorts whose rows do not all begin on a word: the target's words, each shifted out of two of the source.
//
// The macros are explained in words.cl and copy.cl; a word takes the place of a vector. A row of the target is written from the
// word on in which it begins, so that it may have one more than its length tells.
//
// Work-groups: dimension 0 the tiles, rows of them first; 2 the batch.

#include "words.cl"

__kernel __attribute__((reqd_work_group_size(GROUP_X * GROUP_Y, 1, 1)))
void copy_words(const int rows, const int columns,
                const __global ELEMENT* restrict input, const long input_offset, const long input_row, const long input_batch,
                __global ELEMENT* restrict output, const long output_offset, const long output_row, const long output_batch)
{
    const int item = get_local_id(0), tile_columns = RUN_X ? RUNS * RUN_X : GROUP_X * MERGE;
    const int tiles_x = (columns + MERGE - 1 + tile_columns - 1) / tile_columns, tile = get_group_id(0);
    const int column = tile % tiles_x * tile_columns + item % GROUP_X * MERGE;
    const int row = tile / tiles_x * (RUN_Y ? RUNS * RUN_Y : 1) + item / GROUP_X;
    const long source = input_offset + get_group_id(2) * input_batch, end = source + (rows - 1) * input_row + columns;
    const long target = output_offset + get_group_id(2) * output_batch;
    const int first_row = row - item / GROUP_X, first_column = column - item % GROUP_X * MERGE;
    const int last_row = min(rows, first_row + (RUN_Y ? RUNS * RUN_Y : 1)) - 1;  // of the tile
    const int inside = first_column >= MERGE && first_column + tile_columns + MERGE <= columns
                       && first_row + (RUN_Y ? RUNS * RUN_Y : 1) <= rows && max(input_row, output_row) < NEAR;
    if (inside) {
        const long from = source + first_row * input_row + first_column - MERGE, to = target + first_row * output_row + first_column;
        const __global uint* read = (const __global uint*)input + WORD_OF(from);
        __global uint* written = (__global uint*)output + WORD_OF(to);
        uint held[RUNS];
#pragma unroll
        for (int run = 0; run < RUNS; run++) {
            const int line = item / GROUP_X + run * RUN_Y, along = item % GROUP_X * MERGE + run * RUN_X;
            const int begun = SHIFT_OF(SHIFT_OF(to) + line * (int)output_row);
            held[run] = read_inside(read, SHIFT_OF(from) + line * (int)input_row + along + MERGE - begun);
        }
#pragma unroll
        for (int run = 0; run < RUNS; run++) {
            const int line = item / GROUP_X + run * RUN_Y, along = item % GROUP_X * MERGE + run * RUN_X;
            written[WORD_OF(SHIFT_OF(to) + line * (int)output_row + along)] = held[run];
        }
        return;
    }
    const uint last = source + last_row * input_row + columns > WORD_OF(end) * MERGE ? last_elements(input, end) : 0;
    for (int run = 0; run < RUNS; run++) {
        const long to = target + (row + run * RUN_Y) * output_row;
        const int first = column + run * RUN_X - SHIFT_OF(to);  // column in which the word begins: above -MERGE
        if (row + run * RUN_Y < rows && first < columns) {
            const long from = source + (row + run * RUN_Y) * input_row + first;
            write_word(output, to + first, read_elements(input, from, WORD_OF(end), last), to, to + columns);
        }
    }
}
