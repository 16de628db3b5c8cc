// The micro-kernel: HEIGHT rows of A times a panel of B that is VECTORS vectors wide, summed in registers.
//
// This file is included once for each HEIGHT, VECTORS, FUSED and STREAM that 06_production.cl needs. A sum lives in one
// vector register from the first k to the last, so that a step of k costs HEIGHT * VECTORS multiply-adds but only
// HEIGHT + VECTORS loads: with 12 * 2 sums the multipliers are busy all the time. The rows of A are read one element at a
// time and broadcast.
//
// STREAM: C is only written, and around the caches. It takes an instance of its own, since a compiler that sees the same
// store with and without this wish in two branches makes one of them, without it.
//
// AHEAD: with larger level-2 caches, which answer later, the panel is asked for some steps ahead.
//
// FUSED: B is read in place, and what was read is stored to the panel, for the micro-kernels further down to use. The
// wait for B then overlaps with arithmetic, which a separate packing loop could not do.
//
// Packed rows of A lie A_ROW apart. A stride that the compiler knows costs the loop no arithmetic: on a Granite Rapids Xeon 2 to
// 3 % in float64.
#define STEPS_OF_K JOIN(MICRO_KERNEL, _steps)
static inline __attribute__((always_inline)) void STEPS_OF_K(vec sum[HEIGHT][VECTORS], int depth, const REAL *a, const long a_row,
                                                             const __global IN *B, long b_row, REAL *panel)
{
    for (int k = 0; k < depth; k++) {
        vec row[VECTORS];
#pragma unroll
        for (int q = 0; q < VECTORS; q++) {
#if FUSED
            row[q] = LOAD_IN(B + q * VW);
            AT(panel + q * VW) = row[q];
            PREFETCH(B + (VECTORS + q + 1) * VW - 1); // the end of a vector that may lie across two lines
#else
            row[q] = AT(panel + q * VW);
#if AHEAD
            PREFETCH_NEAR(panel + (AHEAD * VECTORS + q) * VW);
#endif
#endif
        }
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
            const vec factor = a[i * a_row];
#pragma unroll
            for (int q = 0; q < VECTORS; q++)
                sum[i][q] = multiply_add(factor, row[q], sum[i][q]);
        }
        a += 1;
        panel += VECTORS * VW;
        B += b_row;
    }
}

static __attribute__((noinline)) void MICRO_KERNEL(int depth, const REAL *a, long a_row, const __global IN *B, long b_row,
                                                   REAL *panel, int direct, ACC alpha, ACC scale, int carry, __global OUT *c,
                                                   long c_row, REAL *tile)
{
    vec sum[HEIGHT][VECTORS];
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
        for (int q = 0; q < VECTORS; q++)
            sum[i][q] = 0;
#if !STREAM // hardware prefetches no tile of C, whose rows lie apart; with `carry` the tile is read
    if (direct && (TILES > 1 || carry)) {
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
            PREFETCH_NEAR(c + i * c_row);
            PREFETCH_NEAR(c + i * c_row + VECTORS * VW - 1);
        }
    }
#endif
    if (a_row == A_ROW)
        STEPS_OF_K(sum, depth, a, A_ROW, B, b_row, panel);
    else
        STEPS_OF_K(sum, depth, a, a_row, B, b_row, panel);
#if DOT
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
        for (int q = 0; q < VECTORS; q++)
            sum[i][q] += AT(panel + (depth * VECTORS + q) * VW); // a panel's last row, as pack_pieces.cl says
#endif
#if STREAM
#pragma unroll
    for (int i = 0; i < HEIGHT; i++) {
#pragma unroll
        for (int q = 0; q < VECTORS; q++)
            __builtin_nontemporal_store(alpha * sum[i][q], (__global vec *)(c + q * VW));
        c += c_row;
    }
#else
#if DIRECT
    if (direct) {
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                vec value = alpha * sum[i][q];
                if (carry)
                    value += scale * LOAD_OUT(c + q * VW);
                STORE_OUT(value, c + q * VW);
            }
            c += c_row;
        }
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
        for (int q = 0; q < VECTORS; q++)
            AT(tile + i * NR + q * VW) = sum[i][q];
#endif
}
#undef STEPS_OF_K
