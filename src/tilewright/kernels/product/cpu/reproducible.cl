// Products whose bits do not depend on how they are cut: each element is one chain of fused multiply-adds in ascending k.
//
// The blocks, panels and register tiles are those of 06_production.cl, whose comments explain them. Sums wait for the next block
// of k as they are: in C, or in `sums`, tile after tile of MR x NR, where C cannot hold them: ragged tiles, shorter elements,
// a C that is still to be multiplied by beta.
#define NR (NV * VW)
#define SLAB (4 * MR)         // rows of A packed at once where its rows are not contiguous, for whole square transposes

#include "vectors.cl"
#include "pack.cl"
#include "finish_chain.cl"

#define STREAMS (DIRECT && OUT_IS_ACC)

// The last rows of a block are computed by the lowest micro-kernel that covers them, and its surplus rows thrown away.
#define TALL MR
#define MIDDLE (2 * MR / 3)
#define SHORT (MR / 3)

#define MICRO_KERNEL tall
#define HEIGHT TALL
#define VECTORS NV
#define FUSED 0
#include "multiply_chain.cl"
#define MICRO_KERNEL tall_fused
#define HEIGHT TALL
#define VECTORS NV
#define FUSED 1
#include "multiply_chain.cl"
#if STREAMS
#define MICRO_KERNEL tall_stream
#define HEIGHT TALL
#define VECTORS NV
#define FUSED 0
#define STREAM 1
#include "multiply_chain.cl"
#endif
#define MICRO_KERNEL middle
#define HEIGHT MIDDLE
#define VECTORS NV
#define FUSED 0
#include "multiply_chain.cl"
#define MICRO_KERNEL middle_fused
#define HEIGHT MIDDLE
#define VECTORS NV
#define FUSED 1
#include "multiply_chain.cl"
#define MICRO_KERNEL low
#define HEIGHT SHORT
#define VECTORS NV
#define FUSED 0
#include "multiply_chain.cl"
#define MICRO_KERNEL low_fused
#define HEIGHT SHORT
#define VECTORS NV
#define FUSED 1
#include "multiply_chain.cl"
#define MICRO_KERNEL narrow
#define HEIGHT TALL
#define VECTORS 1
#define FUSED 0
#include "multiply_chain.cl"

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

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm(int M, int N, int K, ACC alpha, ACC beta,
          const __global IN *restrict A, long a_offset, long a_row, long a_column, long a_batch,
          const __global IN *restrict B, long b_offset, long b_row, long b_column, long b_batch,
          __global OUT *restrict C, long c_offset, long c_row, long c_column, long c_batch,
          const __global OUT *restrict bias, long bias_offset, long bias_row, long bias_column,
          __global ACC *restrict sums, int mb, int nb, int kb, int stream, int a_in_place)
{
    REAL a_panel[SLAB * A_ROW] __attribute__((aligned(128)));
    REAL b_block[KC * NB] __attribute__((aligned(128)));
    REAL tile[MR * NR + VW] __attribute__((aligned(128))); // finish_chain() reads whole vectors, past its end

    const int i0 = get_group_id(1) * mb, rows = min(mb, M - i0);
    const int j0 = get_group_id(0) * nb, columns = min(nb, N - j0);
    const long tiles_m = (M + MR - 1) / MR, tiles_n = (N + NR - 1) / NR;
    A += a_offset + get_group_id(2) * a_batch + i0 * a_row;
    B += b_offset + get_group_id(2) * b_batch;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row;
    // Stores around the caches need aligned vectors; the host asks for them where C is too large to be found in cache.
    stream = stream && beta == 0 && (((ulong)C | c_row * sizeof(OUT)) & (VW * sizeof(REAL) - 1)) == 0;
    const int slab = a_column == 1 ? MR : SLAB;

    int k0 = 0;
    do { // once even if K is 0: C = beta * C
        const int depth = min(kb, K - k0), first = k0 == 0, last = k0 + kb >= K;
        for (int i = 0; i < rows; i += MR) {
            const int height = min(MR, rows - i);
            const int in_place = a_in_place && height == MR;
            const REAL *a = in_place ? (const REAL *)(ulong)(A + i * a_row + k0) : a_panel + i % slab * A_ROW;
            const long a_stride = in_place ? a_row : A_ROW;
            if (i % slab == 0 && !in_place)
                pack(a_panel, A_ROW, 0, A + i * a_row + k0 * a_column, a_row, a_column, min(slab, rows - i), depth, 0);
            for (int j = j0; j < j0 + columns; j += NR) {
                // A ragged last panel slides back to end at the edge of B, so that its rows can be read whole; the
                // columns that it shares with the panel before are not stored again.
                const int width = min(NR, N - j);
                const int is_narrow = NV > 1 && width <= VW;
                const int lanes = is_narrow ? VW : NR;
                const int back = N >= lanes ? lanes - width : 0;
                const __global IN *b = B + k0 * b_row + (j - back) * b_column;
                REAL *panel = b_block + (long)(j - j0) * depth;
                __global OUT *c = C + i * c_row + j * c_column;
                const int fused = i == 0 && b_column == 1 && N >= NR && !is_narrow;
                if (i == 0 && !fused)
                    pack(panel, lanes, lanes, b, b_row, b_column, depth, min(lanes, N), 0);
                prefetch_rows(A + (i + slab) * a_row + k0 * a_column, a_row, a_column, min(MR, rows - i - slab),
                              (long)depth * (j - j0) / columns, min((long)depth * (j - j0 + NR) / columns, (long)depth));

                const int full = is_narrow || height > MIDDLE ? TALL : height > SHORT ? MIDDLE : SHORT;
                const int whole = (height == full) & (width == lanes) & (c_column == 1);
                const int in_c = OUT_IS_ACC & whole & (beta == 0), direct = DIRECT & whole & last;
                const long number = (get_group_id(2) * tiles_m + (i0 + i) / MR) * tiles_n + j / NR;
                REAL *waiting = in_c ? (REAL *)(ulong)c : (REAL *)(ulong)(sums + number * (MR * NR));
                const REAL *next = waiting + (in_c ? NR : MR * NR);
                const long waiting_row = in_c ? c_row : NR;
#define MULTIPLY(name)                                                                                                  \
    name(depth, a, a_stride, b, b_row, panel, first, waiting, next, waiting_row, direct, alpha, beta, c, c_row,           \
         last ? tile : waiting, last ? NR : waiting_row)
                if (is_narrow) {
                    MULTIPLY(narrow);
                } else if (height > MIDDLE && fused) {
                    MULTIPLY(tall_fused);
#if STREAMS
                } else if (height == TALL && direct && stream) {
                    MULTIPLY(tall_stream);
#endif
                } else if (height > MIDDLE) {
                    MULTIPLY(tall);
                } else if (height > SHORT && fused) {
                    MULTIPLY(middle_fused);
                } else if (height > SHORT) {
                    MULTIPLY(middle);
                } else if (fused) {
                    MULTIPLY(low_fused);
                } else {
                    MULTIPLY(low);
                }
                if (last && !direct) {
                    const Target target = {
                        .c = c, .row = c_row, .column = c_column,
#if BIAS
                        .bias = bias + bias_offset + (i0 + i) * bias_row + j * bias_column,
                        .bias_row = bias_row, .bias_column = bias_column,
#endif
                        .alpha = alpha, .beta = beta};
                    finish_chain(tile, height, width, back, &target);
                }
            }
        }
        k0 += kb;
    } while (k0 < K);
}
