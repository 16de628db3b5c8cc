// Products of bools by bits: an instruction that takes 32 bytes decides 256 columns of C at a time.
//
// C[i][j] is whether any k has both A[i][k] and B[k][j]. One bit of each byte of a vector is a column:
//
//      bit p of byte q of vector v     column v * BLOCK + p * BYTES + q, where BYTES are those of a vector, and BLOCK = 8 * BYTES
//
// so that packing B, and unpacking C, are shifts of whole vectors. A's elements become words of ones or zeros, and a step of k is
//
//      bits of C's row |= bits of B's row & the word of A's element
//
// which ROWS rows do for up to VECTORS vectors at a time, in registers. Group (x, y, z) does columns from x * WIDTH and `mb` rows,
// at most MAX_ROWS, from y * mb of matrix z. It packs DEPTH steps of its columns of B, for all of its rows.
//
// VW, WORDS    ulongs and uints of a vector
#define BYTES (8 * VW)
#define BLOCK (8 * BYTES)
#define WIDTH (VECTORS * BLOCK)
#define ONES 0x0101010101010101ul

typedef JOIN(ulong, VW) Bits;
typedef JOIN(uint, WORDS) Words; // of a vector
typedef Bits loose_bits __attribute__((aligned(1)));
typedef ulong loose_ulong __attribute__((aligned(1)));
typedef union {
    Bits bits;
    uchar bytes[BYTES];
} Piece;

// Of each byte whether it is not zero, as 0 or 1: of a vector or of a ulong.
#define TRUTHS(x) ((((((x) & 0x7f * ONES) + 0x7f * ONES) | (x)) >> 7) & ONES)

// `count` bytes that lie `step` apart, at most a vector's, then zeros.
static inline Bits gathered(const __global uchar *from, long step, int count)
{
    if (step == 1 && count >= BYTES)
        return *(const __global loose_bits *)from;
    Piece piece;
    piece.bits = 0;
    for (int q = 0; q < min(count, BYTES); q++)
        piece.bytes[q] = from[q * step];
    return piece.bits;
}

static __attribute__((noinline)) void pack_along_rows(Bits *to, int vectors, const __global uchar *B, long b_row, long b_column,
                                                      int depth, int columns)
{
    for (int k = 0; k < depth; k++) {
        for (int v = 0; v < vectors; v++) {
            Bits bits = 0;
            for (int p = 0; p < 8; p++) {
                const int j = v * BLOCK + p * BYTES;
                if (j < columns) {
                    const Bits piece = gathered(B + k * b_row + j * b_column, b_column, columns - j);
                    bits |= TRUTHS(piece) << p;
                }
            }
            to[k * vectors + v] = bits;
        }
    }
}

// The same where B's columns are contiguous, 8 steps of k in a ulong: eight of those, of columns that share a byte, are that byte
// of eight steps. The last ones slide back to end at the edge. A cache line of a column is read at once.
static __attribute__((noinline)) void pack_along_columns(Bits *to, int vectors, const __global uchar *B, long b_column, int depth,
                                                         int columns)
{
    uchar *bytes = (uchar *)to;
    for (int begin = 0; begin < depth; begin += 64) {
        for (int place = 0; place < vectors * BYTES; place++) {
            const int first = place / BYTES * BLOCK + place % BYTES;
            for (int step = begin; step < min(begin + 64, depth); step += 8) {
                const int k = min(step, depth - 8);
                ulong word = 0;
                for (int p = 0; p < 8 && first + p * BYTES < columns; p++) {
                    const ulong eight = *(const __global loose_ulong *)(B + (first + p * BYTES) * b_column + k);
                    word |= TRUTHS(eight) << p;
                }
                for (int t = 0; t < 8; t++)
                    bytes[(k + t) * vectors * BYTES + place] = (uchar)(word >> 8 * t);
            }
        }
    }
}

static __attribute__((noinline)) void unpack_bits(const Bits *from, int vectors, __global uchar *C, long c_column, int columns)
{
    for (int v = 0; v < vectors; v++) {
        for (int p = 0; p < 8; p++) {
            const int j = v * BLOCK + p * BYTES;
            Piece piece;
            piece.bits = (from[v] >> p) & ONES;
            if (c_column == 1 && columns - j >= BYTES)
                *(__global loose_bits *)(C + j) = piece.bits;
            else
                for (int q = 0; q < min(columns - j, BYTES); q++)
                    C[(j + q) * c_column] = piece.bytes[q];
        }
    }
}

// Each word of `masks` is all ones where the element of A is true: ROWS rows, one after the other for each k.
static __attribute__((noinline)) void pack_masks(uint *masks, const __global uchar *A, long a_row, long a_column, int rows, int depth)
{
    const int whole = rows >= ROWS && a_row == 1; // then the rows of a k lie side by side
    for (int k = 0; whole && k < depth; k++)
        for (int t = 0; t < ROWS; t++)
            masks[k * ROWS + t] = A[k * a_column + t] ? ~0u : 0;
    for (int t = 0; !whole && t < ROWS; t++)
        for (int k = 0; k < depth; k++)
            masks[k * ROWS + t] = A[min(t, rows - 1) * a_row + k * a_column] ? ~0u : 0;
}

static inline __attribute__((always_inline)) void multiply(Bits *sums, const uint *masks, const Bits *b, int depth, const int vectors)
{
    Bits own[ROWS][VECTORS];
#pragma unroll
    for (int t = 0; t < ROWS; t++)
#pragma unroll
        for (int v = 0; v < vectors; v++)
            own[t][v] = sums[t * vectors + v];
    for (int k = 0; k < depth; k++) {
#pragma unroll
        for (int t = 0; t < ROWS; t++) {
            const Bits mask = JOIN(as_ulong, VW)((Words)(masks[k * ROWS + t]));
#pragma unroll
            for (int v = 0; v < vectors; v++)
                own[t][v] |= b[k * vectors + v] & mask;
        }
    }
#pragma unroll
    for (int t = 0; t < ROWS; t++)
#pragma unroll
        for (int v = 0; v < vectors; v++)
            sums[t * vectors + v] = own[t][v];
}

#define MULTIPLY_BY(name, vectors)                                                                                      \
    static __attribute__((noinline)) void name(Bits *sums, const uint *masks, const Bits *b, int depth)                  \
    {                                                                                                                   \
        multiply(sums, masks, b, depth, vectors);                                                                       \
    }
MULTIPLY_BY(multiply_one, 1)
MULTIPLY_BY(multiply_two, 2)
MULTIPLY_BY(multiply_all, VECTORS)

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm(int M, int N, int K,
          const __global uchar *restrict A, long a_offset, long a_row, long a_column, long a_batch,
          const __global uchar *restrict B, long b_offset, long b_row, long b_column, long b_batch,
          __global uchar *restrict C, long c_offset, long c_row, long c_column, long c_batch, int mb)
{
    Bits b[DEPTH * VECTORS];
    Bits sums[(MAX_ROWS + ROWS) * VECTORS];
    uint masks[DEPTH * ROWS];
    const int i0 = get_group_id(1) * mb, rows = min(mb, M - i0);
    const int j0 = get_group_id(0) * WIDTH, columns = min(WIDTH, N - j0);
    const int filled = (columns + BLOCK - 1) / BLOCK, vectors = filled > 2 ? VECTORS : filled;
    A += a_offset + get_group_id(2) * a_batch + i0 * a_row;
    B += b_offset + get_group_id(2) * b_batch + j0 * b_column;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row + j0 * c_column;
    for (int s = 0; s < (rows + ROWS) * vectors; s++)
        sums[s] = 0;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        const int depth = min(DEPTH, K - k0);
        if (b_row == 1 && b_column != 1 && depth >= 8)
            pack_along_columns(b, vectors, B + k0, b_column, depth, columns);
        else
            pack_along_rows(b, vectors, B + k0 * b_row, b_row, b_column, depth, columns);
        for (int i = 0; i < rows; i += ROWS) {
            pack_masks(masks, A + i * a_row + k0 * a_column, a_row, a_column, rows - i, depth);
            if (vectors == 1)
                multiply_one(sums + i, masks, b, depth);
            else if (vectors == 2)
                multiply_two(sums + i * 2, masks, b, depth);
            else
                multiply_all(sums + i * VECTORS, masks, b, depth);
        }
    }
    for (int i = 0; i < rows; i++)
        unpack_bits(sums + i * vectors, vectors, C + i * c_row, c_column, columns);
}
