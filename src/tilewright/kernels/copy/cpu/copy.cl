// A strided copy on a CPU: rows of whole vectors, with non-temporal stores where those pay.
//
// output[i, j] = input[i, j], get_num_groups(2) times, for any strides. Group (x, y, z) copies the tile at row y *
// tile_rows, column x * tile_columns of matrix z. Where both sides run along j, vectors are copied; otherwise single
// elements.

#include "element.cl"

#define VECTOR_BYTES (VW * (int)sizeof(Element))

// A function: LLVM uses vectors of half the machine's length unless a function takes long ones.
static inline void store_around_caches(const vec value, __global Element* out)
{
    __builtin_nontemporal_store(value, (__global vec*)out);
}

// Copies `count` neighbouring elements.
static void copy_row(const __global Element* in, __global Element* out, long count, int stream)
{
    const int past = (ulong)out % VECTOR_BYTES / sizeof(Element);
    const long lead = stream && past ? min((long)(VW - past), count) : 0;
    long j = 0;
    for (; j < lead; j++)
        out[j] = in[j];
    if (stream) {
        for (; j + 4 * VW <= count; j += 4 * VW) {
#pragma unroll
            for (int t = 0; t < 4; t++)
                store_around_caches(*(const __global loose_vec*)(in + j + t * VW), out + j + t * VW);
        }
    }
    for (; j + VW <= count; j += VW)
        *(__global loose_vec*)(out + j) = *(const __global loose_vec*)(in + j);
    for (; j < count; j++)
        out[j] = in[j];
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void copy(long rows, long columns,
          const __global void* restrict input, long input_offset, long input_row, long input_column, long input_batch,
          __global void* restrict output, long output_offset, long output_row, long output_column, long output_batch,
          long tile_rows, long tile_columns, int stream)
{
    const long i0 = get_group_id(1) * tile_rows, j0 = get_group_id(0) * tile_columns;
    rows = min(tile_rows, rows - i0);
    columns = min(tile_columns, columns - j0);
    const __global Element* in = (const __global Element*)input + input_offset + get_group_id(2) * input_batch
                                 + i0 * input_row + j0 * input_column;
    __global Element* out = (__global Element*)output + output_offset + get_group_id(2) * output_batch
                            + i0 * output_row + j0 * output_column;

    stream &= (ulong)out % sizeof(Element) == 0;
    for (long i = 0; i < rows; i++) {
        if (input_column == 1 && output_column == 1) {
            copy_row(in + i * input_row, out + i * output_row, columns, stream);
        } else {
            for (long j = 0; j < columns; j++)
                out[i * output_row + j * output_column] = in[i * input_row + j * input_column];
        }
    }
}
