// The whole of a CPU BLAS: cache blocks, packed panels, register tiles, any strides, ragged edges, one launch.
#define NR (NV * VW)

typedef VECTOR(VW) vec;
typedef vec loose_vec __attribute__((aligned(sizeof(REAL))));

#define PREFETCH(p) __builtin_prefetch((const void *)(ulong)(p), 0, 2)   // into L2, for reading
#define LOAD(p) (*(const __global loose_vec *)(p))
#define STORE(v, p) (*(__global loose_vec *)(p) = (v))
#define PANEL(p) (*(__private vec *)(p))
#define LOOSE_PANEL(p) (*(__private loose_vec *)(p))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

#if VW == 16
#define ROUNDS 4
#define LOW_HALVES(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif VW == 8
#define ROUNDS 3
#define LOW_HALVES(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif VW == 4
#define ROUNDS 2
#define LOW_HALVES(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#else
#define ROUNDS 1
#define LOW_HALVES(a, b) __builtin_shufflevector(a, b, 0, 2)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 1, 3)
#endif

// Transposes VW rows of VW elements in registers.
ALWAYS_INLINE void transpose(vec *rows)
{
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        vec next[VW];
#pragma unroll
        for (int i = 0; i < VW / 2; i++) {
            next[2 * i] = LOW_HALVES(rows[i], rows[i + VW / 2]);
            next[2 * i + 1] = HIGH_HALVES(rows[i], rows[i + VW / 2]);
        }
#pragma unroll
        for (int i = 0; i < VW; i++)
            rows[i] = next[i];
    }
}

// out[i * out_row + j] = in[i * in_row + j * in_column], 0 <= i < rows, 0 <= j < columns
static void pack(REAL *out, int out_row, const __global REAL *in, long in_row, long in_column, int rows, int columns)
{
    if (in_column == 1 && columns >= VW) {
        for (int i = 0; i < rows; i += 4) {
            for (int j = 0; j < columns; j += VW) {
                const int at = min(j, columns - VW);
                vec block[4];
#pragma unroll
                for (int t = 0; t < 4; t++)
                    block[t] = LOAD(in + min(i + t, rows - 1) * in_row + at);
#pragma unroll
                for (int t = 0; t < 4; t++)
                    LOOSE_PANEL(out + min(i + t, rows - 1) * out_row + at) = block[t];
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
                    block[t] = LOAD(in + row + (column + t) * in_column);
                transpose(block);
#pragma unroll
                for (int t = 0; t < VW; t++)
                    LOOSE_PANEL(out + (row + t) * out_row + column) = block[t];
            }
        }
    } else {
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++)
                out[i * out_row + j] = in[i * in_row + j * in_column];
    }
}

#ifndef MICRO_ATTR
#define MICRO_ATTR __attribute__((always_inline)) inline
#endif
#define MICRO_NAME(height, vectors, fused) multiply_##height##_##vectors##_##fused
#define MICRO_KERNEL(height, vectors, fused) MICRO_NAME(height, vectors, fused)
#define TALL MR
#define MIDDLE 8
#define SHORT 4

#define HEIGHT TALL
#define VECTORS NV
#define FUSED 0
#include "micro.cl"
#define HEIGHT TALL
#define VECTORS NV
#define FUSED 1
#include "micro.cl"
#define HEIGHT MIDDLE
#define VECTORS NV
#define FUSED 0
#include "micro.cl"
#define HEIGHT MIDDLE
#define VECTORS NV
#define FUSED 1
#include "micro.cl"
#define HEIGHT SHORT
#define VECTORS NV
#define FUSED 0
#include "micro.cl"
#define HEIGHT SHORT
#define VECTORS NV
#define FUSED 1
#include "micro.cl"
#define HEIGHT TALL
#define VECTORS 1
#define FUSED 0
#include "micro.cl"

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm(int M, int N, int K, REAL alpha, REAL beta,
          const __global REAL *restrict A, long a_offset, long a_row, long a_column, long a_batch,
          const __global REAL *restrict B, long b_offset, long b_row, long b_column, long b_batch,
          __global REAL *restrict C, long c_offset, long c_row, long c_column, long c_batch,
          int mb, int nb, int kb)
{
    REAL a_panel[MR * A_ROW] __attribute__((aligned(128)));
    REAL b_block[KC * NB] __attribute__((aligned(128)));
    REAL tile[MR * NR] __attribute__((aligned(128)));

    const int i0 = get_group_id(1) * mb, rows = min(mb, M - i0);
    const int j0 = get_group_id(0) * nb, columns = min(nb, N - j0);
    A += a_offset + get_group_id(2) * a_batch + i0 * a_row;
    B += b_offset + get_group_id(2) * b_batch;
    C += c_offset + get_group_id(2) * c_batch + i0 * c_row;

    int k0 = 0;
    do {
        const int depth = min(kb, K - k0);
        const REAL scale = k0 == 0 ? beta : 1;
        const int carry = scale != 0;
        for (int i = 0; i < rows; i += MR) {
            const int height = min(MR, rows - i);
            pack(a_panel, A_ROW, A + i * a_row + k0 * a_column, a_row, a_column, height, depth);
            for (int j = j0; j < j0 + columns; j += NR) {
                const int width = min(NR, N - j);
                const int narrow = NV > 1 && width <= VW;
                const int lanes = narrow ? VW : NR;
                const int back = N >= lanes ? lanes - width : 0;
                const __global REAL *b = B + k0 * b_row + (j - back) * b_column;
                REAL *panel = b_block + (j - j0) * depth;
                __global REAL *c = C + i * c_row + j * c_column;
                const int fused = i == 0 && b_column == 1 && N >= NR && !narrow;
                if (i == 0 && !fused)
                    pack(panel, lanes, b, b_row, b_column, depth, min(lanes, N));
                if (a_column == 1) {
                    const int from = depth * (j - j0) / columns, to = depth * (j - j0 + NR) / columns;
                    for (int r = i + MR; r < min(i + 2 * MR, rows); r++)
                        for (int k = from; k < to; k += 64 / (int)sizeof(REAL))
                            PREFETCH(A + r * a_row + (k0 + k));
                }
                int direct = width == lanes && c_column == 1;
#define MULTIPLY(height, vectors, fused) MICRO_KERNEL(height, vectors, fused)(depth, a_panel, b, b_row, panel, alpha, scale, carry, direct, c, c_row, tile)
                if (narrow) {
                    direct &= height == MR;
                    MULTIPLY(TALL, 1, 0);
                } else if (height > MIDDLE) {
                    direct &= height == MR;
                    if (fused)
                        MULTIPLY(TALL, NV, 1);
                    else
                        MULTIPLY(TALL, NV, 0);
                } else if (height > SHORT) {
                    direct &= height == MIDDLE;
                    if (fused)
                        MULTIPLY(MIDDLE, NV, 1);
                    else
                        MULTIPLY(MIDDLE, NV, 0);
                } else {
                    direct &= height == SHORT;
                    if (fused)
                        MULTIPLY(SHORT, NV, 1);
                    else
                        MULTIPLY(SHORT, NV, 0);
                }
                if (!direct) {
                    for (int r = 0; r < height; r++)
                        for (int q = 0; q < width; q++) {
                            REAL value = tile[r * NR + q + back];
                            if (carry)
                                value += scale * c[r * c_row + q * c_column];
                            c[r * c_row + q * c_column] = value;
                        }
                }
            }
        }
        k0 += kb;
    } while (k0 < K);
}
