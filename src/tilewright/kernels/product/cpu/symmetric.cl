// A product of A and its own transpose on CPUs: the lower triangle of C, and what was computed copied to the upper one.
//
// C = activation(alpha * A * B), where B is A transposed, so that C equals its transpose. Blocks, panels and micro-kernels are
// those of 06_production.cl. Three things differ. Work-groups own only blocks that touch the lower triangle. In a block, MR rows
// stop at the panel that has their diagonal, and a panel of B is packed by the first rows that need it. And when a block is
// finished, its transpose is stored to the other side.
//
// Each element has one writer: what a tile on the diagonal has above it is left away, row by row.
#include "06_production.cl"

// The type whose assignment moves an element: half has none without an extension.
#define MOVED_plain OUT
#define MOVED_half ushort
#define MOVED_bfloat OUT
#define MOVED_integer OUT
#define MOVED_truth OUT
#define MOVED JOIN(MOVED_, OUT_FORMAT)

// Stores the rows of a finished block, below the diagonal, as columns above it. Vectors of C that are whole go through registers;
// `C` is the matrix, and the block's rows and columns begin at i0 and j0.
static __attribute__((noinline)) void mirror(__global MOVED *C, long row, long column, int i0, int rows, int j0, int columns)
{
    for (int j = 0; j < columns; j += VW) {
        for (int i = max(0, j0 + j - i0) / VW * VW; i < rows; i += VW) {
            const int first = i0 + i, height = min(VW, rows - i), from = j0 + j, width = min(VW, columns - j);
#if OUT_IS_ACC && !COMPLEX && !INTEGERS_AS_FLOAT
            if (column == 1 && height == VW && width == VW && from + VW <= first) {
                vec block[VW];
#pragma unroll
                for (int t = 0; t < VW; t++)
                    block[t] = LOOSE_GLOBAL(C + (first + t) * row + from);
                transpose(block);
#pragma unroll
                for (int t = 0; t < VW; t++)
                    LOOSE_GLOBAL(C + (from + t) * row + first) = block[t];
                continue;
            }
#endif
            for (int t = 0; t < width; t++)
                for (int s = max(0, from + t - first + 1); s < height; s++)
                    C[(from + t) * row + (first + s) * column] = C[(first + s) * row + (from + t) * column];
        }
    }
}

// Row and column of blocks of work-group number `number`. Long rows and short ones come by turns: drivers that give each core a
// run of work-groups then give it about as much as another.
static inline int2 block_of_triangle(int number, int M, int mb, int nb)
{
    const int rows = (M + mb - 1) / mb;
    for (int place = 0;; place++) {
        const int row = place % 2 ? place / 2 : rows - 1 - place / 2;
        const int blocks = (min(M, (row + 1) * mb) + nb - 1) / nb;
        if (number < blocks || place == rows - 1)
            return (int2)(row, number);
        number -= blocks;
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void symmetric(int M, int K, ACC alpha,
               const __global IN *restrict A, long a_offset, long a_row, long a_column, long a_batch, int a_conjugate,
               const __global IN *restrict B, long b_offset, long b_row, long b_column, long b_batch, int b_conjugate,
               __global OUT *restrict C, long c_offset, long c_row, long c_column, long c_batch,
               __global ACC *restrict partial, int mb, int nb, int kb, int a_in_place)
{
    REAL a_panel[PARTS * SLAB * A_ROW] __attribute__((aligned(128)));
    REAL b_block[PARTS * KC * NB + (DOT > 0) * KC * NB / 16] __attribute__((aligned(128)));
    REAL tile[PARTS * MR * NR + VW] __attribute__((aligned(128)));

    const int2 block = block_of_triangle(get_group_id(0), M, mb, nb);
    const int i0 = block.x * mb, rows = min(mb, M - i0);
    const int j0 = block.y * nb, columns = min(nb, i0 + rows - j0);
    const ACC beta = 0 * ONE;
    A += a_offset + get_group_id(2) * a_batch + i0 * a_row;
    B += b_offset + get_group_id(2) * b_batch;
    C += c_offset + get_group_id(2) * c_batch;
    const int slab = a_column == 1 ? MR : SLAB, kept = max(slab, PASS);

    int k0 = 0;
    do { // once even if K is 0: C = 0
        const int depth = min(kb, K - k0);
        const ACC scale = k0 == 0 ? beta : ONE;
        const int carry = k0 > 0;
        int packed = j0; // up to here panels of B are there
        for (int pass = 0; pass < rows; pass += PASS) {
            const int last = min(pass + PASS, rows);
            for (int i = pass; i < last; i += MR) {
                if (i % slab == 0 && !(a_in_place && rows - i >= MR)) {
                    REAL *to = a_panel + i % kept * A_ROW;
#if DOT
                    pack_rows(to, A_ROW, (const __global PIECE *)A + i * a_row + k0 * a_column, a_row, a_column,
                              min(slab, rows - i), depth);
#else
                    pack(to, A_ROW, A_PART, A + i * a_row + k0 * a_column, a_row, a_column, min(slab, rows - i), depth,
                         a_conjugate);
#endif
                }
            }
            for (int j = j0; j < min(j0 + columns, i0 + last); j += NR) {
                const int width = min(NR, M - j);
                const int is_narrow = NV > 1 && width <= VW;
                const int lanes = is_narrow ? VW : NR;
                const int back = M >= lanes ? lanes - width : 0;
                const __global IN *b = B + k0 * b_row + (j - back) * b_column;
                REAL *panel = b_block + (long)PARTS * (j - j0) * (STEPS(depth) + (DOT > 0));
                for (int i = pass; i < last; i += MR) {
                    const int height = min(MR, rows - i), first = i0 + i;
                    const int in_place = a_in_place && height == MR;
                    const REAL *a = in_place ? (const REAL *)(ulong)(A + i * a_row + k0) : a_panel + i % kept * A_ROW;
                    const long a_stride = in_place ? PARTS * a_row : A_ROW;
#if COMPLEX
                    const long a_part = in_place ? 1 : A_PART, a_step = in_place ? 2 : 1;
#endif
                    if (j >= first + height) // beyond the diagonal of the last row
                        continue;
                    __global OUT *c = C + first * c_row + j * c_column;
                    const int new = j >= packed;
#if DOT
                    int fused = 0;
#else
                    const int fused = new && b_column == 1 && M >= NR && !is_narrow && !b_conjugate;
#endif
                    if (new) {
                        packed = j + NR;
                        if (!fused) {
#if DOT
                            pack_panel(panel, lanes, (const __global PIECE *)b, b_row, b_column, depth, min(lanes, M));
#else
                            pack(panel, PARTS * lanes, lanes, b, b_row, b_column, depth, min(lanes, M), b_conjugate);
#endif
                        }
                    }
                    prefetch_rows(A + (i + kept) * a_row + k0 * a_column, a_row, a_column, min(MR, rows - i - kept),
                                  (long)depth * (j - j0) / columns, min((long)depth * (j - j0 + NR) / columns, (long)depth));

                    const int below = j + width <= first + 1; // the tile has nothing above the diagonal
                    int direct = below && ENDS_IN_C(width, lanes);
                    if (is_narrow) {
                        MULTIPLY(narrow, TALL);
                    } else if (height > MIDDLE && fused) {
                        MULTIPLY(tall_fused, TALL);
                    } else if (height > MIDDLE) {
                        MULTIPLY(tall, TALL);
                    } else if (height > SHORT && fused) {
                        MULTIPLY(middle_fused, MIDDLE);
                    } else if (height > SHORT) {
                        MULTIPLY(middle, MIDDLE);
                    } else if (fused) {
                        MULTIPLY(low_fused, SHORT);
                    } else {
                        MULTIPLY(low, SHORT);
                    }
                    for (int r = 0; !direct && r < height; r += below ? height : 1) {
                        const int own = below ? width : min(width, first + r + 1 - j);
                        const Target target = {
                            .c = c + r * c_row, .row = c_row, .column = c_column,
#if SCRATCH_SUMS
                            .partial = partial + ((get_group_id(2) * M + first + r) * M + j),
                            .partial_row = M, .partial_column = 1,
#else
                            .partial = c + r * c_row, .partial_row = c_row, .partial_column = c_column,
#endif
                            .alpha = alpha, .beta = beta, .first = k0 == 0, .last = k0 + kb >= K};
                        if (own > 0)
                            finish(tile + r * NR, below ? height : 1, own, back, &target);
                    }
                }
            }
        }
        k0 += kb;
    } while (k0 < K);
    mirror((__global MOVED *)C, c_row, c_column, i0, rows, j0, columns);
}
