// The micro-kernel of reproducible.cl: as multiply_real.cl, but the sums go on where the block of k before has left them.
//
// So an element is one chain of fused multiply-adds from its first k to its last, wherever k is cut into blocks: adding the
// sums of blocks, as multiply_real.cl does, makes the bits depend on the cuts.
//
// `before` has the sums of the blocks before, unless this is the first, and `next` those of the tile that is multiplied next, with
// rows `before_row` apart. Whole sums may be `direct`: they go to C. Others go to `after`.
static __attribute__((noinline)) void MICRO_KERNEL(int depth, const REAL *a, long a_row, const __global IN *B, long b_row,
                                                   REAL *panel, int first, const REAL *before, const REAL *next, long before_row,
                                                   int direct, ACC alpha, ACC beta, __global OUT *c, long c_row, REAL *after,
                                                   long after_row)
{
    vec sum[HEIGHT][VECTORS];
    if (first) {
#pragma unroll
        for (int i = 0; i < HEIGHT; i++)
#pragma unroll
            for (int q = 0; q < VECTORS; q++)
                sum[i][q] = 0;
    } else {
#pragma unroll
        for (int i = 0; i < HEIGHT; i++)
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                sum[i][q] = LOOSE_AT(before + i * before_row + q * VW);
                PREFETCH(next + i * before_row + q * VW); // its multiply-adds cannot begin without
            }
    }
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
#if STREAM
#pragma unroll
    for (int i = 0; i < HEIGHT; i++) {
#pragma unroll
        for (int q = 0; q < VECTORS; q++)
            __builtin_nontemporal_store(fma((vec)(alpha), sum[i][q], (vec)(0)), (__global vec *)(c + q * VW));
        c += c_row;
    }
#else
#if DIRECT
    if (direct) {
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                vec value = fma((vec)(alpha), sum[i][q], (vec)(0));
                if (beta != 0)
                    value = fma((vec)(beta), LOAD_OUT(c + q * VW), value);
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
            LOOSE_AT(after + i * after_row + q * VW) = sum[i][q];
#endif
}
#undef MICRO_KERNEL
#undef HEIGHT
#undef VECTORS
#undef FUSED
#undef STREAM
