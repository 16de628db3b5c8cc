// Packing for vpdpbusd, which multiplies four unsigned bytes by four signed ones and adds the products to an int.
//
// A REAL holds the bytes of four steps of K. Those of A get 128 added, which makes them unsigned: the sums are then too
// large by 128 times the column sums of B, and a last row of each panel of B holds what has to be added to put that right.
// It is exact: the instruction wraps and does not saturate. Steps beyond the end of K are zeros in B.
typedef JOIN(uchar, VW) loose_bytes __attribute__((aligned(1)));
typedef struct { vec quads; } __attribute__((packed)) Bytes; // 4 * VW bytes at any address

#define QUAD 4
#define AS_UNSIGNED 0x80808080u // a flipped highest bit adds 128 to a byte

// VW quads from four rows of VW bytes each, of which the first `rows` are there.
static inline vec interleave_rows(const __global uchar *in, long in_row, int rows)
{
    vec quads = JOIN(convert_uint, VW)(*(const __global loose_bytes *)in);
#pragma unroll
    for (int t = 1; t < QUAD; t++)
        if (t < rows)
            quads |= JOIN(convert_uint, VW)(*(const __global loose_bytes *)(in + t * in_row)) << (8 * t);
    return quads;
}

static REAL quad_of(const __global uchar *in, long step, int count)
{
    REAL quad = 0;
    for (int t = 0; t < min(count, QUAD); t++)
        quad |= (REAL)in[t * step] << (8 * t);
    return quad;
}

// out[i * out_row + s] = steps 4s .. 4s + 3 of row i, as unsigned bytes.
static __attribute__((noinline)) void pack_rows(REAL *out, int out_row, const __global uchar *in, long in_row,
                                                long in_column, int rows, int depth)
{
    const int whole = depth / (QUAD * VW) * VW, steps = (depth + QUAD - 1) / QUAD; // in quads
    for (int i = 0; i < rows && in_column == 1; i++) {
        const __global uchar *row = in + i * in_row;
        for (int s = 0; s < whole; s += VW)
            LOOSE_AT(out + i * out_row + s) = ((const __global Bytes *)(row + QUAD * s))->quads ^ AS_UNSIGNED;
        for (int s = whole; s < steps; s++)
            out[i * out_row + s] = quad_of(row + QUAD * s, 1, depth - QUAD * s) ^ AS_UNSIGNED;
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
                block[t] = interleave_rows(in + row + QUAD * (s + t) * in_column, in_column, QUAD);
            transpose(block);
#pragma unroll
            for (int t = 0; t < VW; t++)
                LOOSE_AT(out + (row + t) * out_row + s) = block[t] ^ AS_UNSIGNED;
        }
    }
    for (int s = blocks; s < steps; s++)
        for (int i = 0; i < rows; i++)
            out[i * out_row + s] = quad_of(in + i * in_row + QUAD * s * in_column, in_column, depth - QUAD * s) ^ AS_UNSIGNED;
}

// panel[s * lanes + j] = steps 4s .. 4s + 3 of column j; then -128 times the sum of each column.
static __attribute__((noinline)) void pack_panel(REAL *panel, int lanes, const __global uchar *in, long in_row,
                                                 long in_column, int depth, int columns)
{
    const int steps = (depth + QUAD - 1) / QUAD;
    int s = 0;
    if (in_column == 1 && columns == lanes) {
        for (; s < steps; s++)
            for (int j = 0; j < lanes; j += VW)
                AT(panel + s * lanes + j) = interleave_rows(in + QUAD * s * in_row + j, in_row, depth - QUAD * s);
    } else if (in_row == 1 && columns == lanes) {
        for (; QUAD * (s + VW) <= depth; s += VW) {
            for (int j = 0; j < lanes; j += VW) {
                vec block[VW];
#pragma unroll
                for (int t = 0; t < VW; t++)
                    block[t] = ((const __global Bytes *)(in + QUAD * s + (j + t) * in_column))->quads;
                transpose(block);
#pragma unroll
                for (int t = 0; t < VW; t++)
                    AT(panel + (s + t) * lanes + j) = block[t];
            }
        }
    }
    for (; s < steps; s++)
        for (int j = 0; j < columns; j++)
            panel[s * lanes + j] = quad_of(in + QUAD * s * in_row + j * in_column, in_row, depth - QUAD * s);
    for (int j = 0; j < lanes; j += VW) {
        vec sum = 0;
        for (s = 0; s < steps; s++)
            sum = multiply_add(0x01010101u, AT(panel + s * lanes + j), sum);
        AT(panel + steps * lanes + j) = sum * -128;
    }
}
