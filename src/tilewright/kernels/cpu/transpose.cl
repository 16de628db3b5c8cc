// A transpose as a CPU likes it: square blocks turned round in registers, whole cache lines written around the caches.
//
// output[i, j] = input[i, j], where the input runs along i and the output along j, `get_num_groups(2)` times. The work-item
// of group (x, y, z) does the tile at row y * tile_rows, column x * tile_columns of matrix z, or a little before. Any other strides will do,
// an element at a time.
//
// UNIT         an unsigned integer that stands for an element, or for half of one of 16 bytes
// UNITS        units in an element: 1 or 2
// VW           elements of a vector, and the side of a block
// PIECES       vectors that make a cache line: lines are gathered before they are written
//
// Reading a column of blocks touches one line in each of VW rows, writing it fills VW lines: both in full, so a tile needs
// the translations of few pages and no line is fetched twice. A store around the caches saves fetching the line that it
// overwrites, a third of all traffic; it must be aligned, so the first columns are done one by one up to there.
typedef JOIN(UNIT, VECTOR_UNITS) vec; // VECTOR_UNITS = VW * UNITS
typedef vec loose_vec __attribute__((aligned(sizeof(UNIT))));
typedef struct { UNIT part[UNITS]; } Element;

// Lines further along the input's rows, into the level-2 cache: that a stride down its columns will come back for its
// neighbours is nothing that the hardware foresees. It doubles the speed on large matrices.
#define AHEAD 2
#define PREFETCH(p) __builtin_prefetch((const void *)(ulong)(p), 0, 2)

#define LINE (VW * PIECES)
#define LINE_BYTES (LINE * (int)sizeof(Element))

#if UNITS == 2 && VW == 4
#define LOG2_VW 2
#define LOW 0, 1, 8, 9, 2, 3, 10, 11
#define HIGH 4, 5, 12, 13, 6, 7, 14, 15
#elif UNITS == 2 && VW == 2
#define LOG2_VW 1
#define LOW 0, 1, 4, 5
#define HIGH 2, 3, 6, 7
#elif UNITS == 2 && VW == 1
#define LOG2_VW 0
#define LOW 0, 1
#define HIGH 0, 1
#elif VW == 16
#define LOG2_VW 4
#define LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif VW == 8
#define LOG2_VW 3
#define LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif VW == 4
#define LOG2_VW 2
#define LOW 0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#else
#define LOG2_VW 1
#define LOW 0, 2
#define HIGH 1, 3
#endif

// The elements of the lower and of the upper halves of two vectors, one from each in turn. They are functions, not
// macros, since LLVM makes do with vectors of half the machine's length unless a function is called with long ones.
static inline vec low(const vec a, const vec b) { return __builtin_shufflevector(a, b, LOW); }
static inline vec high(const vec a, const vec b) { return __builtin_shufflevector(a, b, HIGH); }

#define BLOCK block
#define STREAM 0
#include "square.cl"
#define BLOCK block_around_caches
#define STREAM 1
#include "square.cl"

static void one_by_one(const __global Element *in, long in_row, long in_column, __global Element *out, long out_row,
                       long out_column, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[i * out_row + j * out_column] = in[i * in_row + j * in_column];
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void transpose(int rows, int columns,
               const __global void *restrict input, long input_offset, long input_row, long input_column, long input_batch,
               __global void *restrict output, long output_offset, long output_row, long output_column, long output_batch,
               int tile_rows, int tile_columns, int stream)
{
    const int i0 = get_group_id(1) * tile_rows;
    rows = min(tile_rows, rows - i0);
    const __global Element *in = (const __global Element *)input + input_offset + get_group_id(2) * input_batch + i0 * input_row;
    __global Element *out = (__global Element *)output + output_offset + get_group_id(2) * output_batch + i0 * output_row;

    // All rows of the output meet the cache's lines at the same column, or streaming is out of the question. Tiles then
    // begin where lines do: the first is shorter by what the output lies past a line, and there may be one more.
    stream &= output_column == 1 && output_row * sizeof(Element) % LINE_BYTES == 0 && (ulong)out % sizeof(Element) == 0;
    const int past = stream ? (ulong)out % LINE_BYTES / sizeof(Element) : 0;
    const int j0 = max(0, (int)get_group_id(0) * tile_columns - past);
    columns = min((int)(get_group_id(0) + 1) * tile_columns - past, columns) - j0;
    if (columns <= 0)
        return;
    in += j0 * input_column;
    out += j0 * output_column;

    if (input_row != 1 || output_column != 1 || rows < VW || columns < LINE) {
        one_by_one(in, input_row, input_column, out, output_row, output_column, rows, columns);
        return;
    }
    const int lead = j0 == 0 && past ? min(LINE - past, columns) : 0;
    one_by_one(in, 1, input_column, out, output_row, 1, rows, lead);
    for (int i = 0; i < rows; i += VW) {
        const int row = min(i, rows - VW); // the last block slides back over what is done already
        int j = lead;
        for (; stream && j + LINE <= columns; j += LINE)
            block_around_caches(in + row + j * input_column, input_column, out + row * output_row + j, output_row);
        for (; j < columns; j += LINE) {
            const int column = min(j, columns - LINE);
            block(in + row + column * input_column, input_column, out + row * output_row + column, output_row);
        }
    }
}
