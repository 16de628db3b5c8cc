// How a tile gets from global memory into local memory, and from there to where it is turned to, by vectors on both sides.
//
// The source's elements lie side by side along its rows, the target's down its columns.
//
// ELEMENT          an unsigned type of the element's size
// TILE_ROWS, TILE_COLUMNS  the tile that a work-group turns
// ITEMS            work-items of a group
// IN_VEC, OUT_VEC  elements of one load along a row, and of one store down a column
// IN_WORDS         the type of one load; IN_PACKED tells that these are words of MERGE elements, HELD_COUNT of them
// IN_LANES, OUT_LANES  work-items side by side in that direction: 32 of them cover 32 / LANES lines of the tile
// WORD, MERGE      what local memory holds: MERGE elements of a column in a word of 4 bytes, or the element (MERGE = 1)
// OUT_PIECE, OUT_WORDS  the type of one store, and the words that make it
// INDEX            the type that counts elements from the tile's corner: int, where that is enough
// PITCH, SKEW      words from line to line; SKEW unused words after every 32 of a line
//
// Bytes are merged into words on their way in: a fourth of the local reads and writes. With 8 lanes of 16 bytes by 4
// lines, PITCH = 1 modulo 32, and a SKEW of 4 where a load makes more than 4 words, neither the writes into the tile nor
// the reads down its columns meet in a bank: lane x of line y has bank 4 x + y.

#include "element.cl"

#define WARP 32
#define LINES (TILE_ROWS / MERGE)
#define LOADS (LINES * TILE_COLUMNS / IN_VEC / ITEMS)
#define STORES (TILE_ROWS * TILE_COLUMNS / OUT_VEC / ITEMS)
#define COLUMN(x) ((x) + (uint)(x) / 32 * SKEW)

// Where vector number `vector` of a tile lies: (along, across) the direction of its elements. It is unsigned, since compilers
// do not know that a work-item's number is not negative: dividing is one instruction then, and not four.
#define PLACE(vector, lanes, width, blocks)                                              \
    MAKE2(int, ((vector) / WARP % (blocks) * (lanes) + (vector) % WARP % (lanes)) * (width), \
           (vector) / WARP / (blocks) * (WARP / (lanes)) + (vector) % WARP / (lanes))
#define IN_PLACE(i) PLACE(item + (i) * ITEMS, IN_LANES, IN_VEC, TILE_COLUMNS / (IN_LANES * IN_VEC))
#define OUT_PLACE(i) PLACE(item + (i) * ITEMS, OUT_LANES, OUT_VEC, TILE_ROWS / (OUT_LANES * OUT_VEC))

// Bytes and shorts are loaded and merged as words (IN_PACKED): compilers split a load of 16 chars into pieces of four.
#if IN_PACKED
#include "merge.cl"
typedef uint HELD;
#else
typedef ELEMENT HELD;
#endif

// Writes what was held of MERGE rows, from column `column` on, into a line of the tile.
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

// Reads the work-item's part of a tile, of which `rows` x `columns` lie inside of the matrix.
INLINE void load_tile(HELD held[LOADS][MERGE][HELD_COUNT], const __global ELEMENT* from, const int rows, const int columns,
                      const INDEX row_stride, const INDEX column_stride)
{
    const uint item = get_local_id(0);
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int2 at = IN_PLACE(i);
#pragma unroll
        for (int m = 0; m < MERGE; m++) {
            const int row = at.y * MERGE + m;
            if (row < rows && at.x < columns)
                UNPACK(HELD_COUNT)(held[i][m], *(const __global IN_WORDS*)(from + row * row_stride + at.x * column_stride));
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

// Writes the tile, of which `rows` x `columns` lie inside of the matrix; rows are the direction of a store.
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
