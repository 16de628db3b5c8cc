// Loads a tile from global into local memory and stores its transpose, by vectors on both sides.
//
// Elements are neighbours along the source's rows, and along the target's columns.
//
// ELEMENT          an unsigned type of the element's size
// TILE_ROWS, TILE_COLUMNS  the tile that a work-group transposes
// ITEMS            work-items of a group
// IN_VEC, OUT_VEC  elements of one load along a row, and of one store down a column
// IN_WORDS         the type of one load. IN_PACKED: it is HELD_COUNT words of MERGE elements each
// IN_LANES, OUT_LANES  work-items along that direction: 32 of them cover 32 / LANES lines of the tile
// WORD, MERGE      a word of local memory: MERGE elements of a column in 4 bytes, or one element (MERGE = 1)
// OUT_PIECE, OUT_WORDS  the type of one store, and its number of words
// INDEX            the type of offsets from the tile's corner: int where that is enough, else long
// PITCH, SKEW      words from line to line; SKEW unused words after every 32 of a line
//
// int8 elements are merged into words when they are loaded, for a quarter of the local reads and writes. There are no
// bank conflicts with 8 lanes of 16 bytes by 4 lines, PITCH = 1 modulo 32, and SKEW = 4 where a load makes more than 4
// words: lane x of line y has bank 4 x + y.

#include "element.cl"

#define WARP 32
#define LINES (TILE_ROWS / MERGE)
#define LOADS (LINES * TILE_COLUMNS / IN_VEC / ITEMS)
#define STORES (TILE_ROWS * TILE_COLUMNS / OUT_VEC / ITEMS)
#define COLUMN(x) ((x) + (uint)(x) / 32 * SKEW)

// Where vector number `vector` of a tile lies: (along, across) the direction of its elements. The number is unsigned:
// division is then one instruction. It takes four for an int, as compilers do not know that it is not negative.
#define PLACE(vector, lanes, width, blocks)                                              \
    MAKE2(int, ((vector) / WARP % (blocks) * (lanes) + (vector) % WARP % (lanes)) * (width), \
           (vector) / WARP / (blocks) * (WARP / (lanes)) + (vector) % WARP / (lanes))
#define IN_PLACE(i) PLACE(item + (i) * ITEMS, IN_LANES, IN_VEC, TILE_COLUMNS / (IN_LANES * IN_VEC))
#define OUT_PLACE(i) PLACE(item + (i) * ITEMS, OUT_LANES, OUT_VEC, TILE_ROWS / (OUT_LANES * OUT_VEC))

// IN_PACKED loads int8 and int16 as words of 4 bytes: compilers split a load of 16 chars into four.
#if IN_PACKED
#include "merge.cl"
typedef uint HELD;
#else
typedef ELEMENT HELD;
#endif

// Stores the elements of MERGE rows, from column `column` on, into a line of the tile.
INLINE void put(local WORD* line, const int column, HELD held[MERGE][HELD_COUNT])
{
#pragma unroll
    for (int i = 0; i < HELD_COUNT; i++) {
#if IN_PACKED
        uint rows[MERGE], columns[MERGE];
#pragma unroll
        for (int m = 0; m < MERGE; m++)
            rows[m] = held[m][i];
        merge(columns, rows);
#pragma unroll
        for (int m = 0; m < MERGE; m++)
            line[COLUMN(column + MERGE * i + m)] = columns[m];
#elif MERGE == 4
        line[COLUMN(column + i)] = as_uint(MAKE4(uchar, held[0][i], held[1][i], held[2][i], held[3][i]));
#elif MERGE == 2
        line[COLUMN(column + i)] = as_uint(MAKE2(ushort, held[0][i], held[1][i]));
#else
        line[COLUMN(column + i)] = held[0][i];
#endif
    }
}

// Loads the work-item's elements of a tile. `rows` x `columns` of the tile lie inside the matrix.
INLINE void load_tile(HELD held[LOADS][MERGE][HELD_COUNT], const __global ELEMENT* from,
                      const int rows, const int columns, const INDEX row_stride, const INDEX column_stride)
{
    const uint item = get_local_id(0);
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int2 at = IN_PLACE(i);
#pragma unroll
        for (int m = 0; m < MERGE; m++) {
            const int row = at.y * MERGE + m;
            if (row < rows && at.x < columns)
                UNPACK(HELD_COUNT)(held[i][m],
                                   *(const __global IN_WORDS*)(from + row * row_stride + at.x * column_stride));
        }
    }
}

INLINE void put_tile(local WORD* tile, HELD held[LOADS][MERGE][HELD_COUNT])
{
    const uint item = get_local_id(0);
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int2 at = IN_PLACE(i);
        put(tile + at.y * PITCH, at.x, held[i]);
    }
}

// Stores the tile. `rows` x `columns` of it lie inside the matrix; a store runs along rows.
INLINE void store_tile(__global ELEMENT* to, const local WORD* tile, const int rows, const int columns,
                       const INDEX row_stride, const INDEX column_stride)
{
    const uint item = get_local_id(0);
#pragma unroll
    for (int i = 0; i < STORES; i++) {
        const int2 at = OUT_PLACE(i);
        WORD column[OUT_WORDS];
#pragma unroll
        for (int word = 0; word < OUT_WORDS; word++)
            column[word] = tile[((uint)at.x / MERGE + word) * PITCH + COLUMN(at.y)];
        if (at.x < rows && at.y < columns)
            *(__global OUT_PIECE*)(to + at.x * row_stride + at.y * column_stride) = PACK(OUT_WORDS)(column);
    }
}
