// A transpose for an unaligned leading dimension: it still stores whole sectors of 32 bytes.
//
// Elements are neighbours along the source's rows, and along the target's columns.
//
// ELEMENT, MERGE, WORD  explained in words.cl
// SECTOR          elements of a sector
// TILE_ROWS, TILE_COLUMNS  the tile that a work-group reads: SECTOR rows more than it writes
// ITEMS           work-items of a group
// IN              words of a row that a work-item reads: neighbours if a word holds several elements, else LANES apart
// OUT, PIECE      words of one store, 16 bytes, and their type
// PITCH           words from line to line of the tile
// INDEX           the type of offsets from a tile's corner: int where that is enough, else long
//
// A column of the target may begin inside a sector. A work-group stores from the start of that sector on. For that it
// reads up to SECTOR rows of the tile above. So a sector is stored in parts at the matrix's edges alone. Rows are read
// from the start of the sector in which the first row begins.
//
// Work-groups: dimension 0 the tiles of a column of tiles, as in transpose.cl; 1 the columns of tiles; 2 the batch.

#include "element.cl"
#include "words.cl"
#include "merge.cl"

#define WRITTEN (TILE_ROWS - SECTOR)
#define LINES (TILE_ROWS / MERGE)
#define LANES (TILE_COLUMNS / (MERGE * IN))
#define PAIR (2 * MERGE)                // elements of two words
#define LOADED (IN + 2 * (MERGE > 1))  // words loaded for IN words, which may begin in the middle of a pair
#define LOADS (LINES * LANES / ITEMS)
#define PIECE_ROWS (MERGE * OUT)
#define PIECES (WRITTEN / PIECE_ROWS)  // of a column
#define STORES ((PIECES * TILE_COLUMNS + ITEMS - 1) / ITEMS)

// A word of line `line` of the tile, which holds MERGE rows. One word is unused after every 32, and one before every
// second 128 bytes of a column: about two work-items then share a bank, where four did. Unaligned columns allow no
// better.
#define TILE(line, column) \
    tile[(line) * PITCH + (column) + (MERGE > 1) * (column) / 32 + (OUT > 1) * (line) / (4 * SECTOR / MERGE) % 2]

// Loads the work-item's words of the tile whose corner is element number `corner` and lies in row `first_row` of the
// matrix. Only rows 0 to `high` - 1 of the matrix are loaded.
INLINE void load_words(WORD held[LOADS][MERGE][LOADED], const __global ELEMENT* input, const long corner,
                       const INDEX stride, const int first_row, const int high, const int first_column,
                       const int columns)
{
#if MERGE > 1
    const __global uint2* from = (const __global uint2*)input + (WORD_OF(corner) >> 1);
#else
    const __global ELEMENT* from = input + corner;
#endif
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const uint n = (uint)get_local_id(0) + load * ITEMS;
#pragma unroll
        for (int m = 0; m < MERGE; m++) {
            const uint row = n / LANES * MERGE + m;
            if ((uint)(first_row + row) >= (uint)high)
                continue;
#if MERGE > 1
            const INDEX first = ((int)corner & (PAIR - 1)) + row * stride + n % LANES * (IN * MERGE);
#pragma unroll
            for (int i = 0; i < LOADED / 2; i++) {
                const uint2 pair = from[(WORD_OF(first) >> 1) + i];
                held[load][m][2 * i] = pair.x;
                held[load][m][2 * i + 1] = pair.y;
            }
#else
#pragma unroll
            for (int i = 0; i < IN; i++)
                if ((uint)(first_column + n % LANES + i * LANES) < (uint)columns)
                    held[load][m][i] = from[row * stride + n % LANES + i * LANES];
#endif
        }
    }
}

// Merges the loaded words down columns and stores them in the tile.
INLINE void put(local WORD* tile, WORD held[LOADS][MERGE][LOADED], const long corner, const INDEX stride)
{
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const uint n = (uint)get_local_id(0) + load * ITEMS, line = n / LANES;
#pragma unroll
        for (int i = 0; i < IN; i++) {
#if MERGE > 1
            uint rows[MERGE], merged[MERGE];
#pragma unroll
            for (int m = 0; m < MERGE; m++) {
                const uint first = (uint)corner + (line * MERGE + m) * (uint)stride;
                const bool second = WORD_OF(first) & 1;  // whether the row begins in the second word of a pair
                const uint word = second ? held[load][m][i + 1] : held[load][m][i];
                const uint next = second ? held[load][m][i + 2] : held[load][m][i + 1];
                rows[m] = shifted(word, next, SHIFT_OF(first));
            }
            merge(merged, rows);
#pragma unroll
            for (int m = 0; m < MERGE; m++)
                TILE(line, (n % LANES * IN + i) * MERGE + m) = merged[m];
#else
            TILE(line, n % LANES + i * LANES) = held[load][0][i];
#endif
        }
    }
}

// The words of piece number `piece` of column `x`, which begins in row `skipped` of the tile.
INLINE void gather(WORD words[OUT + 1], const local WORD* tile, const uint skipped, const uint piece, const uint x)
{
    const uint line = skipped / MERGE + piece * OUT;
#pragma unroll
    for (int i = 0; i < OUT + (MERGE > 1); i++)
        words[i] = TILE(line + i, x);
#if MERGE > 1
#pragma unroll
    for (int i = 0; i < OUT; i++)
        words[i] = shifted(words[i], words[i + 1], SHIFT_OF(skipped));
#endif
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void transpose_unaligned(const int rows, const int columns,
                         const __global ELEMENT* restrict input, const long input_offset,
                         const long input_row, const long input_batch,
                         __global ELEMENT* restrict output, const long output_offset,
                         const long output_column, const long output_batch)
{
    __local WORD tile[LINES * PITCH];

    const uint item = get_local_id(0);  // unsigned: dividing it is one shift, not four instructions
    const long source = input_offset + get_group_id(2) * input_batch,
               target = output_offset + get_group_id(2) * output_batch;
    const int first_row = (int)get_group_id(0) * WRITTEN - SECTOR;
    const int first_column = (int)get_group_id(1) * TILE_COLUMNS - ((int)source & (SECTOR - 1));
    const long corner = source + first_row * input_row + first_column;

    const int below = min(rows, first_row + TILE_ROWS);
    int high = below;  // rows above it are loaded by whole words, which end before the last row does
#if MERGE > 1
    const long last = source + (rows - 1) * input_row + columns - (TILE_COLUMNS + PAIR);
    while (high > max(0, first_row) && corner + (high - 1 - first_row) * input_row > last)
        high--;
    const int useful = first_column + (int)(item % LANES) * (IN * MERGE) < columns ? high : 0;
#else
    const int useful = high;
#endif
    WORD held[LOADS][MERGE][LOADED];
    load_words(held, input, corner, input_row, first_row, useful, first_column, columns);
    put(tile, held, corner, input_row);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (high < below) {  // the remaining rows, element by element
#pragma unroll 1
        for (uint n = (max(0, high) - first_row) * TILE_COLUMNS + item; n < (below - first_row) * TILE_COLUMNS;
             n += ITEMS) {
            const uint row = n / TILE_COLUMNS, x = n % TILE_COLUMNS;
            if ((uint)(first_column + x) < (uint)columns)
                ((local ELEMENT*)&TILE(row / MERGE, x))[row % MERGE] = input[corner + row * input_row + x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const long place = target + (long)first_column * output_column + first_row;
    const int begun = (int)place & (SECTOR - 1),
              whole = max(0, rows - PIECE_ROWS + 1);  // rows in which a whole piece begins
    __global ELEMENT* to = output + (place - begun);
#pragma unroll
    for (int store = 0; store < STORES; store++) {
        const uint n = item + store * ITEMS, piece = n % PIECES, x = n / PIECES;
        const INDEX above = begun + x * (INDEX)output_column;  // from `to` to the tile's first row in this column
        const uint skipped = -(int)above & (SECTOR - 1), row = skipped + piece * PIECE_ROWS;
        if ((STORES * ITEMS > PIECES * TILE_COLUMNS && x >= TILE_COLUMNS) || (uint)(first_column + x) >= (uint)columns)
            continue;
        if ((uint)(first_row + row) < (uint)whole) {
            WORD words[OUT + 1];
            gather(words, tile, skipped, piece, x);
            // by the index of a piece, as nvcc stores word by word where the index is of elements
            ((__global PIECE*)to)[(above + row) / PIECE_ROWS] = PACK(OUT)(words);
        }
    }
#if PIECE_ROWS > 1
    if (first_row >= 0 && first_row + TILE_ROWS <= rows)
        return;
#pragma unroll 1
    for (uint n = item; n < PIECES * TILE_COLUMNS; n += ITEMS) {  // pieces partly inside the matrix
        const uint piece = n % PIECES, x = n / PIECES;
        const INDEX above = begun + x * (INDEX)output_column;
        const uint skipped = -(int)above & (SECTOR - 1), row = skipped + piece * PIECE_ROWS;
        if ((uint)(first_column + x) >= (uint)columns || (uint)(first_row + row) < (uint)whole)
            continue;
        WORD words[OUT + 1];
        gather(words, tile, skipped, piece, x);
#pragma unroll
        for (int i = 0; i < PIECE_ROWS; i++)
            if ((uint)(first_row + row + i) < (uint)rows)
                to[above + row + i] = element_of(words[i / MERGE], i % MERGE);
    }
#endif
}
