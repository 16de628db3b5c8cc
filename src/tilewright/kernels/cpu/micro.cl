static MICRO_ATTR void MICRO_KERNEL(HEIGHT, VECTORS, FUSED)(int depth, const REAL *a,
                            const __global REAL *B, long b_row, REAL *panel, REAL alpha, REAL scale, int carry,
                            int direct, __global REAL *c, long c_row, REAL *tile)
{
    vec sum[HEIGHT][VECTORS];
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
        for (int q = 0; q < VECTORS; q++)
            sum[i][q] = 0;
#pragma unroll UNROLL
    for (int k = 0; k < depth; k++) {
        vec row[VECTORS];
#pragma unroll
        for (int q = 0; q < VECTORS; q++) {
            row[q] = FUSED ? LOAD(B + q * VW) : PANEL(panel + q * VW);
            if (FUSED) {
                PANEL(panel + q * VW) = row[q];
                PREFETCH(B + NR + q * VW);
            }
        }
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
            const vec factor = a[i * A_ROW];
#pragma unroll
            for (int q = 0; q < VECTORS; q++)
                sum[i][q] = fma(factor, row[q], sum[i][q]);
        }
        a += 1;
        panel += VECTORS * VW;
        B += b_row;
    }
    if (direct) {
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                vec value = alpha * sum[i][q];
                if (carry)
                    value += scale * LOAD(c + q * VW);
                STORE(value, c + q * VW);
            }
            c += c_row;
        }
    } else {
#pragma unroll
        for (int i = 0; i < HEIGHT; i++)
#pragma unroll
            for (int q = 0; q < VECTORS; q++)
                PANEL(tile + i * NR + q * VW) = alpha * sum[i][q];
    }
}

#undef HEIGHT
#undef VECTORS
#undef FUSED
