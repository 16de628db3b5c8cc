#ifndef SPACE
#define SPACE __local
#endif
// The whole of a CPU BLAS: cache blocks, packed panels, register tiles, any strides, ragged edges, one launch.
#define NR (NV * VW)
#define ROW (KC + PAD)

typedef VECTOR(VW) vec;
typedef vec loose_vec __attribute__((aligned(sizeof(REAL))));

#define LOAD(p) (*(const __global loose_vec *)(p))
#define STORE(v, p) (*(__global loose_vec *)(p) = (v))
#define PANEL(p) (*(SPACE vec *)(p))
#define LOOSE_PANEL(p) (*(SPACE loose_vec *)(p))
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
static void pack(SPACE REAL *out, int out_row, const __global REAL *in, long in_row, long in_column, int rows, int columns)
{
    if (in_column == 1 && columns >= VW) {
        for (int i = 0; i < rows; i += PR) {
            for (int j = 0; j < columns; j += VW) {
                const int at = min(j, columns - VW);
                vec block[PR];
#pragma unroll
                for (int t = 0; t < PR; t++)
                    block[t] = LOAD(in + min(i + t, rows - 1) * in_row + at);
#pragma unroll
                for (int t = 0; t < PR; t++)
                    LOOSE_PANEL(out + min(i + t, rows - 1) * out_row + at) = block[t];
            }
        }
    } else if (in_row == 1 && rows >= VW && columns >= VW) {
        for (int j = 0; j < columns; j += VW) {
            int column = min(j, columns - VW);
            for (int i = 0; i < rows; i += VW) {
                int row = min(i, rows - VW);
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

ALWAYS_INLINE void multiply(const int height, const int fused, int depth, const SPACE REAL *a, const __global REAL *B,
                            long b_row, SPACE REAL *b, __global REAL *c, long c_row, REAL alpha, REAL beta, int carry, int direct,
                            SPACE REAL *tile)
{
    vec sum[MR][NV];
#pragma unroll
    for (int i = 0; i < height; i++)
#pragma unroll
        for (int q = 0; q < NV; q++)
            sum[i][q] = 0;
#ifdef PFC
    if (carry) {
#pragma unroll
        for (int i = 0; i < height; i++)
#pragma unroll
            for (int q = 0; q < NV; q++)
                __builtin_prefetch((const void *)(ulong)(c + i * c_row + q * VW), 0, 3);
    }
#endif
#pragma unroll UNROLL
    for (int k = 0; k < depth; k++) {
        vec row[NV];
#pragma unroll
        for (int q = 0; q < NV; q++) {
            row[q] = fused ? LOAD(B + q * VW) : PANEL(b + q * VW);
            if (fused) {
                PANEL(b + q * VW) = row[q];
#ifdef PFB
                __builtin_prefetch((const void *)(ulong)(B + NR + q * VW), 0, 2);
#endif
            }
        }
#pragma unroll
        for (int i = 0; i < height; i++) {
            vec factor = a[i * ROW];
#pragma unroll
            for (int q = 0; q < NV; q++)
                sum[i][q] = fma(factor, row[q], sum[i][q]);
        }
        a += 1;
        b += NR;
        B += b_row;
    }
    if (direct) {
#pragma unroll
        for (int i = 0; i < height; i++) {
#pragma unroll
            for (int q = 0; q < NV; q++) {
                vec value = alpha * sum[i][q];
                if (carry)
                    value += beta * LOAD(c + q * VW);
                STORE(value, c + q * VW);
            }
            c += c_row;
        }
    } else {
#pragma unroll
        for (int i = 0; i < height; i++)
#pragma unroll
            for (int q = 0; q < NV; q++)
                PANEL(tile + i * NR + q * VW) = alpha * sum[i][q];
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm(int M, int N, int K, REAL alpha, REAL beta,
          const __global REAL *restrict A, long a_offset, long a_row, long a_column, long a_batch,
          const __global REAL *restrict B, long b_offset, long b_row, long b_column, long b_batch,
          __global REAL *restrict C, long c_offset, long c_row, long c_column, long c_batch,
          int mb, int nb, int kb)
{
    SPACE REAL a_slab[SLAB * ROW] __attribute__((aligned(128)));
    SPACE REAL b_block[KC * NB] __attribute__((aligned(128)));
    SPACE REAL tile[MR * NR] __attribute__((aligned(128)));

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
#ifdef WIDE
        const int wide = b_column == 1 && N >= NR;
        if (wide) {
            for (int k = 0; k < depth; k++) {
                const __global REAL *b = B + (k0 + k) * b_row;
                SPACE REAL *out = b_block + k * NR;
                for (int j = j0; j < j0 + columns; j += NR) {
                    const int at = min(j, N - NR);
#pragma unroll
                    for (int q = 0; q < NV; q++)
                        PANEL(out + q * VW) = LOAD(b + at + q * VW);
                    out += depth * NR;
                }
            }
        }
#else
        const int wide = 0;
#endif
        for (int i = 0; i < rows; i += MR) {
            if (i % SLAB == 0
#ifdef NOPACKA
 && i==0 && k0==0
#endif
)
                pack(a_slab, ROW, A + i * a_row + k0 * a_column, a_row, a_column, min(SLAB, rows - i), depth);
            const SPACE REAL *a = a_slab + i % SLAB * ROW;
            const int left = rows - i;
            for (int j = j0; j < j0 + columns; j += NR) {
                const int width = min(NR, N - j);
                const int back = N >= NR ? NR - width : 0;
                const __global REAL *b = B + k0 * b_row + (j - back) * b_column;
                SPACE REAL *panel = b_block + (j - j0) * depth;
                
#ifdef NOC
__global REAL *c = C;c_row=NR;
#else
__global REAL *c = C + i * c_row + j * c_column;
#endif

                
#ifdef NOPACKB
int fused = i == 0 && k0==0 &&
#else
int fused = i == 0 &&
#endif
 b_column == 1 && N >= NR;
                
#ifdef NOPACKB
if(0)
#else
if (i == 0 && !fused && !wide)
#endif

                    pack(panel, NR, b, b_row, b_column, depth, min(NR, N));
                int direct = width == NR && c_column == 1;
#ifdef PFC2
                if (carry)
                    for (int r = 0; r < min(MR, left); r++) {
                        __builtin_prefetch((const void *)(ulong)(c + r * c_row), 0, PFC2);
                        __builtin_prefetch((const void *)(ulong)(c + r * c_row + NR - 1), 0, PFC2);
                    }
#endif
#ifdef PFA
                if (a_column == 1) {
                    const int lo = depth * (j - j0) / columns, hi = depth * (j - j0 + NR) / columns;
                    const int last = min(i + SLAB + MR, rows);
                    for (int r = i + SLAB; r < last; r++)
                        for (int k = lo; k < hi; k += 64 / (int)sizeof(REAL))
                            __builtin_prefetch((const void *)(ulong)(A + r * a_row + (k0 + k)), 0, 2);
                }
#endif
                if (left > 2 * MR / 3) {
                    direct &= left >= MR;
                    if (fused)
                        multiply(MR, 1, depth, a, b, b_row, panel, c, c_row, alpha, scale, carry, direct, tile);
                    else
                        multiply(MR, 0, depth, a, b, b_row, panel, c, c_row, alpha, scale, carry, direct, tile);
                } else if (left > MR / 3) {
                    direct &= left >= 2 * MR / 3;
                    if (fused)
                        multiply(2 * MR / 3, 1, depth, a, b, b_row, panel, c, c_row, alpha, scale, carry, direct, tile);
                    else
                        multiply(2 * MR / 3, 0, depth, a, b, b_row, panel, c, c_row, alpha, scale, carry, direct, tile);
                } else {
                    direct &= left >= MR / 3;
                    if (fused)
                        multiply(MR / 3, 1, depth, a, b, b_row, panel, c, c_row, alpha, scale, carry, direct, tile);
                    else
                        multiply(MR / 3, 0, depth, a, b, b_row, panel, c, c_row, alpha, scale, carry, direct, tile);
                }
                if (!direct) {
                    for (int r = 0; r < min(MR, left); r++)
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
