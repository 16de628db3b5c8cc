// Packing for instructions that multiply the pieces of a REAL pair by pair and add the products to an int.
//
// DOT           pieces of a REAL: 4 bytes, by vpdpbusd, or 2 integers of 16 bits, by vpdpwssd; they are steps of K
// SIGNED_BYTES  1 if bytes are signed, 0 if they are not
// IN_IS_TRUTH   1 for bools: bytes that are packed as 0 or 1
//
// vpdpbusd multiplies unsigned bytes by signed ones. If those of B are signed, those of A get 128 added, which makes them
// unsigned: the sums are then too large by 128 times the column sums of B, and a last row of each panel of B holds what has to
// be added to put that right. If those of B are unsigned, those of A get 128 subtracted, and the sums are too small by as much.
// It is exact: the instruction wraps and does not saturate. Bools need neither. Integers of 16 bits are signed for vpdpwssd; of
// unsigned ones the sums are right modulo 2^16. Steps beyond the end of K are zeros in B.
#if DOT == 4
#define PIECE uchar
#define BITS 8
#else
#define PIECE ushort
#define BITS 16
#endif

typedef JOIN(PIECE, VW) loose_pieces __attribute__((aligned(sizeof(PIECE))));
typedef struct { vec whole; } __attribute__((packed)) Pieces; // DOT * VW pieces at any address

#define OFFSET (DOT == 2 || IN_IS_TRUTH ? 0 : SIGNED_BYTES ? -128 : 128) // what the column sums of B are multiplied by
#define FLIPPED (OFFSET ? 0x80808080u : 0u) // a flipped highest bit adds 128 to a byte, or subtracts it

#if IN_IS_TRUTH // 1 for each byte but 0: its lower bits carry into the highest one
#define NUMBERS(pieces) ((((pieces) | (((pieces) & 0x7f7f7f7fu) + 0x7f7f7f7fu)) >> 7) & 0x01010101u)
#else
#define NUMBERS(pieces) (pieces)
#endif

// VW REALs from DOT rows of VW pieces each, of which the first `rows` are there.
static inline vec interleave_rows(const __global PIECE *in, long in_row, int rows)
{
    vec pieces = JOIN(convert_uint, VW)(*(const __global loose_pieces *)in);
#pragma unroll
    for (int t = 1; t < DOT; t++)
        if (t < rows)
            pieces |= JOIN(convert_uint, VW)(*(const __global loose_pieces *)(in + t * in_row)) << (BITS * t);
    return NUMBERS(pieces);
}

static REAL pieces_of(const __global PIECE *in, long step, int count)
{
    REAL pieces = 0;
    for (int t = 0; t < min(count, DOT); t++)
        pieces |= (REAL)in[t * step] << (BITS * t);
    return NUMBERS(pieces);
}

// out[i * out_row + s] = steps DOT * s .. DOT * s + DOT - 1 of row i; their highest bits are flipped where OFFSET asks for it.
static __attribute__((noinline)) void pack_rows(REAL *out, int out_row, const __global PIECE *in, long in_row,
                                                long in_column, int rows, int depth)
{
    const int whole = depth / (DOT * VW) * VW, steps = (depth + DOT - 1) / DOT; // in REALs
    for (int i = 0; i < rows && in_column == 1; i++) {
        const __global PIECE *row = in + i * in_row;
        for (int s = 0; s < whole; s += VW)
            LOOSE_AT(out + i * out_row + s) = NUMBERS(((const __global Pieces *)(row + DOT * s))->whole) ^ FLIPPED;
        for (int s = whole; s < steps; s++)
            out[i * out_row + s] = pieces_of(row + DOT * s, 1, depth - DOT * s) ^ FLIPPED;
    }
    if (in_column == 1)
        return;
    const int blocks = in_row == 1 && rows >= VW ? whole : 0;
    for (int s = 0; s < blocks; s += VW) {
        for (int i = 0; i < rows; i += VW) {
            const int row = min(i, rows - VW);
            vec block[VW];
#pragma unroll
            for (int t = 0; t < VW; t++)
                block[t] = interleave_rows(in + row + DOT * (s + t) * in_column, in_column, DOT);
            transpose(block);
#pragma unroll
            for (int t = 0; t < VW; t++)
                LOOSE_AT(out + (row + t) * out_row + s) = block[t] ^ FLIPPED;
        }
    }
    for (int s = blocks; s < steps; s++)
        for (int i = 0; i < rows; i++)
            out[i * out_row + s] = pieces_of(in + i * in_row + DOT * s * in_column, in_column, depth - DOT * s) ^ FLIPPED;
}

// panel[s * lanes + j] = steps DOT * s .. DOT * s + DOT - 1 of column j; then OFFSET times the sum of each column.
static __attribute__((noinline)) void pack_panel(REAL *panel, int lanes, const __global PIECE *in, long in_row,
                                                 long in_column, int depth, int columns)
{
    const int steps = (depth + DOT - 1) / DOT;
    int s = 0;
    if (in_column == 1 && columns == lanes) {
        for (; s < steps; s++)
            for (int j = 0; j < lanes; j += VW)
                AT(panel + s * lanes + j) = interleave_rows(in + DOT * s * in_row + j, in_row, depth - DOT * s);
    } else if (in_row == 1 && columns == lanes) {
        for (; DOT * (s + VW) <= depth; s += VW) {
            for (int j = 0; j < lanes; j += VW) {
                vec block[VW];
#pragma unroll
                for (int t = 0; t < VW; t++)
                    block[t] = NUMBERS(((const __global Pieces *)(in + DOT * s + (j + t) * in_column))->whole);
                transpose(block);
#pragma unroll
                for (int t = 0; t < VW; t++)
                    AT(panel + (s + t) * lanes + j) = block[t];
            }
        }
    }
    for (; s < steps; s++)
        for (int j = 0; j < columns; j++)
            panel[s * lanes + j] = pieces_of(in + DOT * s * in_row + j * in_column, in_row, depth - DOT * s);
    for (int j = 0; j < lanes; j += VW) {
        vec sum = 0;
        for (s = 0; s < (OFFSET ? steps : 0); s++)
            sum = multiply_add(0x01010101u, AT(panel + s * lanes + j), sum);
        AT(panel + steps * lanes + j) = sum * OFFSET;
    }
}
