// The whole of a CPU BLAS: cache blocks, packed panels, register tiles, any strides and types, ragged edges, one launch.
//
// C = activation(alpha * A * B + beta * C + bias). One work-item owns mb x nb elements of C:
//
//      for each block of kb along K                  B's block, kb x nb, is packed in panels: it stays in level 2
//          for each MR rows of A                     MR x kb, in place or packed: it stays in level 1
//              for each panel of B, NR columns wide
//                  multiply: MR x NR sums in registers, over the kb steps of the block
//
//  The panels of B stream from the level-2 cache, one element of which serves MR multiply-adds; an element of A serves nb.
//  Where that cache is small, B's block lies in level 3 and TILES row panels of A use each panel of B in turn, out of level 1:
//  an element that comes from level 3 then serves TILES * MR multiply-adds.
//  Packing B costs nothing extra: the first MR rows read it in place and store what they read (FUSED in multiply.cl).
//  A is multiplied where it lies if its rows can be together in the level-1 cache (in_place in cost.py), else packed.
//  It is asked for one row panel ahead, spread over the micro-kernels, because its rows are too short for the hardware
//  to predict. The buffers are private memory: of one work-item, so no local memory, and none of its limits.
//
//  With `sums_last` the columns past the last whole panel, of which there are few, are summed along k (last_columns.cl).
//
//  With DOT a REAL holds so many bytes or 16-bit integers, which are as many steps of K: see pack_pieces.cl.
#define NR (NV * VW)
#define A_PART (SLAB * A_ROW) // from the real to the imaginary part of a packed row of A
#define SLAB (4 * MR)         // rows of A packed at once where its rows are not contiguous, for whole square transposes
#define PASS (TILES * MR)     // rows of A that use a panel of B in turn

#include "vectors.cl"
#include "pack.cl"
#include "finish.cl"
#if DOT
#include "pack_pieces.cl"
#define STEPS(depth) (((depth) + DOT - 1) / DOT) // of the micro-kernels
#else
#define STEPS(depth) (depth)
#endif

// Whether a tile of sums can go to C at once: not a sum of a type that C cannot hold while K goes on.
#if SCRATCH_SUMS
#define ENDS_IN_C(width, lanes) (DIRECT & ((width) == (lanes)) & (c_column == 1) & (K <= kb))
#else
#define ENDS_IN_C(width, lanes) (DIRECT & ((width) == (lanes)) & (c_column == 1))
#endif
#define STREAMS (DIRECT && OUT_IS_ACC && !COMPLEX)

// The last rows of a block are computed by the lowest micro-kernel that covers them, and its surplus rows thrown away.
#define TALL MR
#define MIDDLE (2 * MR / 3)
#define SHORT (MR / 3)

#define MICRO_KERNEL tall
#define HEIGHT TALL
#define VECTORS NV
#define FUSED 0
#include "multiply.cl"
#define MICRO_KERNEL tall_fused
#define HEIGHT TALL
#define VECTORS NV
#define FUSED 1
#include "multiply.cl"
#if STREAMS
#define MICRO_KERNEL tall_stream
#define HEIGHT TALL
#define VECTORS NV
#define FUSED 0
#define STREAM 1
#include "multiply.cl"
#endif
#define MICRO_KERNEL middle
#define HEIGHT MIDDLE
#define VECTORS NV
#define FUSED 0
#include "multiply.cl"
#define MICRO_KERNEL middle_fused
#define HEIGHT MIDDLE
#define VECTORS NV
#define FUSED 1
#include "multiply.cl"
#define MICRO_KERNEL low
#define HEIGHT SHORT
#define VECTORS NV
#define FUSED 0
#include "multiply.cl"
#define MICRO_KERNEL low_fused
#define HEIGHT SHORT
#define VECTORS NV
#define FUSED 1
#include "multiply.cl"
#define MICRO_KERNEL narrow
#define HEIGHT TALL
#define VECTORS 1
#define FUSED 0
#include "multiply.cl"

#define SUMS_LAST (!COMPLEX && !DOT)
#if SUMS_LAST
#define COLUMNS 2
#define ROWS 4
#include "last_columns.cl"
#define COLUMNS 4
#define ROWS 2
#include "last_columns.cl"
#endif

// Asks for rows of A, or for their piece from..to along K, before they are packed.
static inline void prefetch_rows(const __global IN *in, long in_row, long in_column, int rows, int from, int to)
{
    if (rows > 0 && in_column == 1) {
        for (int i = 0; i < rows; i++)
            for (int k = from; k < to; k += LINE_BYTES / (int)sizeof(IN))
                PREFETCH(in + i * in_row + k);
    } else if (rows > 0 && in_row == 1) {
        for (int k = from; k < to; k++)
            PREFETCH(in + k * in_column);
    }
}

#if COMPLEX
#define IS_ZERO(a) ((a).x == 0 && (a).y == 0)
#define ONE ((ACC)(1, 0))
#else
#define IS_ZERO(a) ((a) == 0)
#define ONE ((ACC)1)
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm(int M, int N, int K, ACC alpha, ACC beta,
          const __global IN *restrict A, long a_offset, long a_row, long a_column, long a_batch, int a_conjugate,
          const __global IN *restrict B, long b_offset, long b_row, long b_column, long b_batch, int b_conjugate,
          __global OUT *restrict C, long c_offset, long c_row, long c_column, long c_batch,
          const __global OUT *restrict bias, long bias_offset, long bias_row, long bias_column,
          __global ACC *restrict partial, int mb, int nb, int kb, int stream, int a_in_place, int sums_last)
{
    REAL a_panel[PARTS * SLAB * A_ROW] __attribute__((aligned(128)));
    REAL b_block[PARTS * KC * NB + (DOT > 0) * KC * NB / 16] __attribute__((aligned(128)));
    REAL tile[PARTS * MR * NR + VW] __attribute__((aligned(128))); // finish() reads whole vectors, past its end

    const int i0 = get_group_id(1) * mb, rows = min(mb, M - i0);
    const int j0 = get_group_id(0) * nb, columns = min(nb, N - j0);
    A += a_offset + get_group_id(2) * a_batch + i0 * a_row;
    B += b_offset + get_group_id(2) * b_batch;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row;
    // Stores around the caches need aligned vectors; the host asks for them where C is too large to be found in cache.
    stream = stream && (((ulong)C | c_row * sizeof(OUT)) & (VW * sizeof(REAL) - 1)) == 0;
    const int slab = a_column == 1 ? MR : SLAB, kept = max(slab, PASS); // rows of A packed at once, and in all

    int k0 = 0;
    do { // once even if K is 0: C = beta * C
        const int depth = min(kb, K - k0);
        const ACC scale = k0 == 0 ? beta : ONE;
        const int carry = !IS_ZERO(scale);
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
            for (int j = j0; j < j0 + columns; j += NR) {
                // A ragged last panel slides back to end at the edge of B, so that its rows can be read whole; the
                // columns that it shares with the panel before are not stored again.
                const int width = min(NR, N - j);
                const int is_narrow = NV > 1 && width <= VW;
                const int lanes = is_narrow ? VW : NR;
#if SUMS_LAST
                const int is_last = sums_last && width < NR; // at most four columns: sums_last() in config.py
                const int last_depth = (depth + VW - 1) / VW * VW;
#else
                const int is_last = 0;
#endif
                const int back = N >= lanes && !is_last ? lanes - width : 0;
                const __global IN *b = B + k0 * b_row + (j - back) * b_column;
                REAL *panel = b_block + (long)PARTS * (j - j0) * (STEPS(depth) + (DOT > 0));
                for (int i = pass; i < last; i += MR) {
                    const int height = min(MR, rows - i);
                    const int in_place = a_in_place && height == MR;
                    const REAL *a = in_place ? (const REAL *)(ulong)(A + i * a_row + k0) : a_panel + i % kept * A_ROW;
                    const long a_stride = in_place ? PARTS * a_row : A_ROW;
#if COMPLEX // from the real to the imaginary part, and to the next k
                    const long a_part = in_place ? 1 : A_PART, a_step = in_place ? 2 : 1;
#define ROWS_OF_A a, a_stride, a_part, a_step
#else
#define ROWS_OF_A a, a_stride
#endif
                    __global OUT *c = C + i * c_row + j * c_column;
#if DOT
                    int fused = 0; // several rows of B make one of a panel
#else
                    const int fused = i == 0 && b_column == 1 && N >= NR && !is_narrow && !b_conjugate;
#endif
                    if (i == 0 && is_last) {
#if SUMS_LAST
                        pack(panel, last_depth, 0, b, b_column, b_row, width, depth, 0);
#endif
                    } else if (i == 0 && !fused) {
#if DOT
                        pack_panel(panel, lanes, (const __global PIECE *)b, b_row, b_column, depth, min(lanes, N));
#else
                        pack(panel, PARTS * lanes, lanes, b, b_row, b_column, depth, min(lanes, N), b_conjugate);
#endif
                    }
                    prefetch_rows(A + (i + kept) * a_row + k0 * a_column, a_row, a_column, min(MR, rows - i - kept),
                                  (long)depth * (j - j0) / columns, min((long)depth * (j - j0 + NR) / columns, (long)depth));

                    int direct = ENDS_IN_C(width, lanes);
#define MULTIPLY(name, full)                                                                                            \
    direct &= height == (full);                                                                                         \
    name(STEPS(depth), ROWS_OF_A, b, b_row, panel, direct, alpha, scale, carry, c, c_row, tile)
                    if (is_last) {
                        direct = 0;
#if SUMS_LAST
                        if (width <= 2)
                            last_columns_2(height, depth, a, a_stride, panel, last_depth, tile);
                        else
                            last_columns_4(height, depth, a, a_stride, panel, last_depth, tile);
#endif
                    } else if (is_narrow) {
                        MULTIPLY(narrow, TALL);
                    } else if (height > MIDDLE && fused) {
                        MULTIPLY(tall_fused, TALL);
#if STREAMS
                    } else if (height == TALL && direct && stream && !carry) {
                        MULTIPLY(tall_stream, TALL);
#endif
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
                    if (!direct) {
                        const Target target = {
                            .c = c, .row = c_row, .column = c_column,
#if SCRATCH_SUMS
                            .partial = partial + ((get_group_id(2) * M + i0 + i) * N + j),
                            .partial_row = N, .partial_column = 1,
#else
                            .partial = c, .partial_row = c_row, .partial_column = c_column,
#endif
#if BIAS
                            .bias = bias + bias_offset + (i0 + i) * bias_row + j * bias_column,
                            .bias_row = bias_row, .bias_column = bias_column,
#endif
                            .alpha = alpha, .beta = beta, .first = k0 == 0, .last = k0 + kb >= K};
                        finish(tile, height, width, back, &target);
                    }
                }
            }
        }
        k0 += kb;
    } while (k0 < K);
}
