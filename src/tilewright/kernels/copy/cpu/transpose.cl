// A transpose on a CPU: square blocks are transposed in registers, and whole cache lines stored by non-temporal stores.
//
// output[i, j] = input[i, j], get_num_groups(2) times, where the input runs along i and the output along j. Group (x,
// y, z) computes the tile at row y * tile_rows, column x * tile_columns of matrix z, or up to a cache line earlier.
// With any other strides elements are copied one by one.
//
// Reading a column of blocks touches one line in each of VW rows, and storing it fills VW lines. Both are used in full:
// a tile needs few pages of the TLB, and each line is read once. A non-temporal store saves reading the line that it
// overwrites, a third of all traffic. It must be aligned, so the columns before the first whole line are stored one by
// one.

#include "blocks.cl"

static void one_by_one(const __global Element* in, long in_row, long in_column, __global Element* out, long out_row,
                       long out_column, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[i * out_row + j * out_column] = in[i * in_row + j * in_column];
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void transpose(int rows, int columns,
               const __global void* restrict input, long input_offset,
               long input_row, long input_column, long input_batch,
               __global void* restrict output, long output_offset,
               long output_row, long output_column, long output_batch,
               int tile_rows, int tile_columns, int stream)
{
    const int i0 = get_group_id(1) * tile_rows;
    rows = min(tile_rows, rows - i0);
    const __global Element* in = (const __global Element*)input + input_offset + get_group_id(2) * input_batch
                                 + i0 * input_row;
    __global Element* out = (__global Element*)output + output_offset + get_group_id(2) * output_batch
                            + i0 * output_row;

    // Non-temporal stores need rows of the output that are all aligned alike. Tiles then begin at cache lines: the
    // first tile is shorter by the output's distance from a line, and there may be one more tile.
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
        const int row = min(i, rows - VW);  // the last block overlaps the one before
        int j = lead;
        for (; stream && j + LINE <= columns; j += LINE)
            block_around_caches(in + row + j * input_column, input_column, out + row * output_row + j, output_row);
        for (; j < columns; j += LINE) {
            const int column = min(j, columns - LINE);
            block(in + row + column * input_column, input_column, out + row * output_row + column, output_row);
        }
    }
}
