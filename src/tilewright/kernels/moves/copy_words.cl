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
    const int item = get_local_id(0), number = get_group_id(0);
    const int tile_rows = RUN_Y ? RUNS * RUN_Y : 1, tile_columns = RUN_X ? RUNS * RUN_X : GROUP_X * MERGE;
    const int tiles_x = (columns + MERGE - 1 + tile_columns - 1) / tile_columns;
    const int first_row = number / tiles_x * tile_rows, first_column = number % tiles_x * tile_columns;
    const int row = item / GROUP_X, column = item % GROUP_X * MERGE;  // of the work-item's first word in the tile
    const long source = input_offset + get_group_id(2) * input_batch, end = source + (rows - 1) * input_row + columns;
    const long target = output_offset + get_group_id(2) * output_batch;
    const int inside = first_column >= MERGE && first_column + tile_columns + MERGE <= columns
                       && first_row + tile_rows <= rows && max(input_row, output_row) < NEAR;
    if (inside) {
        const long from = source + first_row * input_row + first_column - MERGE;
        const long to = target + first_row * output_row + first_column;
        const __global uint* read = (const __global uint*)input + WORD_OF(from);
        __global uint* written = (__global uint*)output + WORD_OF(to);
        uint held[RUNS];
#pragma unroll
        for (int run = 0; run < RUNS; run++) {
            const int line = row + run * RUN_Y, along = column + run * RUN_X;
            const int begun = SHIFT_OF(SHIFT_OF(to) + line * (int)output_row);
            held[run] = read_inside(read, SHIFT_OF(from) + line * (int)input_row + along + MERGE - begun);
        }
#pragma unroll
        for (int run = 0; run < RUNS; run++) {
            const int line = row + run * RUN_Y, along = column + run * RUN_X;
            written[WORD_OF(SHIFT_OF(to) + line * (int)output_row + along)] = held[run];
        }
        return;
    }
    const int last_row = min(rows, first_row + tile_rows) - 1;  // of the tile
    const uint last = source + last_row * input_row + columns > WORD_OF(end) * MERGE ? last_elements(input, end) : 0;
    for (int run = 0; run < RUNS; run++) {
        const int line = first_row + row + run * RUN_Y;
        const long to = target + line * output_row;
        const int first = first_column + column + run * RUN_X - SHIFT_OF(to);  // column of the word's beginning: above -MERGE
        if (line < rows && first < columns) {
            const uint word = read_elements(input, source + line * input_row + first, WORD_OF(end), last);
            write_word(output, to + first, word, to, to + columns);
        }
    }
}
