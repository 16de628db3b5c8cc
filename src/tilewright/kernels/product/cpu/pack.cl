// Packing: copies a block of A or B, of whatever strides and storage format, to a dense buffer of REALs.
//
// A complex block becomes two real ones (all real parts, then all imaginary parts, `part_stride` apart), so that the
// micro-kernel multiplies whole vectors and never shuffles.
#if COMPLEX
#define PARTS 2
#define SIGNED(value, sign) ((value) * (sign))
#define PART(p, part) ((part) ? odds(LOAD_plain((const __global REAL *)(p)), LOAD_plain((const __global REAL *)(p) + VW)) \
                              : evens(LOAD_plain((const __global REAL *)(p)), LOAD_plain((const __global REAL *)(p) + VW)))
#define PART_OF_ELEMENT(p, part) (((const __global REAL *)(p))[part])
#else
#define PARTS 1
#define SIGNED(value, sign) (value)
#define PART(p, part) LOAD_IN(p)
#define PART_OF_ELEMENT(p, part) GET_IN(p)
#endif

#if MR % 4
#define TOGETHER MR // rows that are copied together: with 4 of 6 the last two would be copied twice
#else
#define TOGETHER 4
#endif

// out[i * out_row + j] = in[i * in_row + j * in_column] for 0 <= i < rows, 0 <= j < columns.
// The last vector of a ragged row or column slides back to end at the edge: it writes some elements a second time, with
// the same values, and so needs neither a remainder loop nor a read out of bounds.
static __attribute__((noinline)) void pack_part(REAL *out, int out_row, const __global IN *in, long in_row,
                                                long in_column, int rows, int columns, const int part, REAL sign)
{
    if (in_column == 1 && columns >= VW) {
        // Some rows at a time, so that as many streams of reads are under way at once.
        for (int i = 0; i < rows; i += TOGETHER) {
            for (int j = 0; j < columns; j += VW) {
                const int at = min(j, columns - VW);
                vec block[TOGETHER];
#pragma unroll
                for (int t = 0; t < TOGETHER; t++)
                    block[t] = PART(in + min(i + t, rows - 1) * in_row + at, part);
#pragma unroll
                for (int t = 0; t < TOGETHER; t++)
                    LOOSE_AT(out + min(i + t, rows - 1) * out_row + at) = SIGNED(block[t], sign);
            }
        }
    } else if (in_row == 1 && rows >= VW && columns >= VW) {
        for (int j = 0; j < columns; j += VW) {
            const int column = min(j, columns - VW);
            for (int i = 0; i < rows; i += VW) {
                const int row = min(i, rows - VW);
                vec block[VW];
#pragma unroll
                for (int t = 0; t < VW; t++)
                    block[t] = PART(in + row + (column + t) * in_column, part);
                transpose(block);
#pragma unroll
                for (int t = 0; t < VW; t++)
                    LOOSE_AT(out + (row + t) * out_row + column) = SIGNED(block[t], sign);
            }
        }
    } else {
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++)
                out[i * out_row + j] = SIGNED(PART_OF_ELEMENT(in + i * in_row + j * in_column, part), sign);
    }
}

// As pack_part; `conjugate` turns the sign of the imaginary parts.
static void pack(REAL *out, int out_row, int part_stride, const __global IN *in, long in_row, long in_column, int rows,
                 int columns, int conjugate)
{
#if COMPLEX
    pack_part(out, out_row, in, in_row, in_column, rows, columns, 0, 1);
    pack_part(out + part_stride, out_row, in, in_row, in_column, rows, columns, 1, conjugate ? -1 : 1);
#else
    pack_part(out, out_row, in, in_row, in_column, rows, columns, 0, 1);
#endif
}
