// turn.cl for bytes and shorts whose rows or columns do not all begin on a word: read and written by words all the same.
//
// The source's elements lie side by side along its rows, the target's down its columns.
//
// ELEMENT, MERGE  explained in words.cl
// TILE_ROWS, TILE_COLUMNS  what a work-group reads: MERGE rows more than it writes
// ITEMS           work-items of a group
// PITCH           words from line to line of the tile: odd, so that reading down a column meets no bank twice
//
// A column of the target begins at some element of a word. A work-group writes the whole words from there on, and needs for the
// first of them up to MERGE - 1 rows of the tile above: it reads these too, and nobody writes half a word but at the edges.
// One unused word after every 32 of a line lets 32 work-items with words MERGE apart meet all banks.
//
// Work-groups: dimension 0 the tiles, columns of them first as in turn.cl; 2 the batch.

#include "words.cl"
#include "merge.cl"

#define LINES (TILE_ROWS / MERGE)     // of words that hold MERGE rows
#define WORDS (TILE_COLUMNS / MERGE)  // of a row
#define LOADS (LINES * WORDS / ITEMS)
#define STORES (LINES * TILE_COLUMNS / ITEMS)
#define COLUMN(x) ((x) + (x) / 32)

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void turn_words(const int rows, const int columns,
                const __global ELEMENT* restrict input, const long input_offset, const long input_row, const long input_batch,
                __global ELEMENT* restrict output, const long output_offset, const long output_column, const long output_batch)
{
    __local uint tile[LINES * PITCH];

    const int item = get_local_id(0), written = TILE_ROWS - MERGE, number = get_group_id(0);
    const int tiles_y = (rows + MERGE - 1 + written - 1) / written;
    const int first_row = number % tiles_y * written, first_column = number / tiles_y * TILE_COLUMNS;
    const long source = input_offset + get_group_id(2) * input_batch, end = source + (rows - 1) * input_row + columns;
    const long target = output_offset + get_group_id(2) * output_batch;
    const int inside = first_row >= MERGE && first_row - MERGE + TILE_ROWS <= rows
                       && first_column + TILE_COLUMNS + MERGE <= columns && max(input_row, output_column) < NEAR;

    uint held[LOADS][MERGE];
    if (inside) {
        const long corner = source + (first_row - MERGE) * input_row + first_column;
        const __global uint* from = (const __global uint*)input + WORD_OF(corner);
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            const int n = item + load * ITEMS;
#pragma unroll
            for (int m = 0; m < MERGE; m++)
                held[load][m] = read_inside(from, SHIFT_OF(corner) + (n / WORDS * MERGE + m) * (int)input_row + n % WORDS * MERGE);
        }
    } else {
        const int last_row = min(rows, first_row - MERGE + TILE_ROWS) - 1;  // of the tile
        const uint last = source + last_row * input_row + columns > WORD_OF(end) * MERGE ? last_elements(input, end) : 0;
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            const int n = item + load * ITEMS, column = first_column + n % WORDS * MERGE;
#pragma unroll
            for (int m = 0; m < MERGE; m++) {
                const int row = first_row - MERGE + n / WORDS * MERGE + m;
                if (row >= 0 && row < rows && column < columns)
                    held[load][m] = read_elements(input, source + row * input_row + column, WORD_OF(end), last);
            }
        }
    }
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const int n = item + load * ITEMS;
        local uint* line = tile + n / WORDS * PITCH;
        uint merged[MERGE];
        merge(merged, held[load]);
#pragma unroll
        for (int m = 0; m < MERGE; m++)
            line[COLUMN(n % WORDS * MERGE + m)] = merged[m];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const long corner = target + first_column * output_column + first_row;
    __global uint* to = (__global uint*)output + WORD_OF(corner);
    if (inside) {
#pragma unroll
        for (int store = 0; store < STORES; store++) {
            const int n = item + store * ITEMS, y = n % LINES, x = n / LINES;
            const int first = SHIFT_OF(corner) + x * (int)output_column;
            const local uint* pair = tile + y * PITCH + COLUMN(x);
            if (y < LINES - 1)
                to[WORD_OF(first) + y] = shifted(pair[0], pair[PITCH], MERGE - SHIFT_OF(first));
        }
        return;
    }
    for (int store = 0; store < STORES; store++) {
        const int n = item + store * ITEMS, y = n % LINES, x = n / LINES;
        const long top = target + (first_column + x) * output_column;
        const int shift = SHIFT_OF(top + first_row);
        const local uint* pair = tile + y * PITCH + COLUMN(x);
        if (y < LINES - 1 && first_column + x < columns)
            write_word(output, top + first_row - shift + y * MERGE, shifted(pair[0], pair[PITCH], MERGE - shift), top,
                       top + rows);
    }
}
