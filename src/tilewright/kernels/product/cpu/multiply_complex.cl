// The micro-kernel of complex matrices: as multiply.cl, with the real and the imaginary sums in registers of their own.
//
// Four real multiply-adds make a complex one. The packed rows and panels hold real and imaginary parts apart, so all of
// them are whole-vector operations; the two parts are interleaved once, when the sums are stored.
static __attribute__((noinline)) void MICRO_KERNEL(int depth, const REAL *a, long a_row, long a_part, long a_step,
                                                   const __global IN *B, long b_row,
                                                   REAL *panel, int direct, ACC alpha, ACC scale, int carry, __global OUT *c,
                                                   long c_row, REAL *tile)
{
    vec real[HEIGHT][VECTORS], imaginary[HEIGHT][VECTORS];
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
        for (int q = 0; q < VECTORS; q++)
            real[i][q] = imaginary[i][q] = 0;
    if (direct && carry) { // prefetched as in multiply_real.cl
#pragma unroll
        for (int i = 0; i < HEIGHT; i++)
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                PREFETCH_NEAR(c + i * c_row + q * VW);
                PREFETCH_NEAR(c + i * c_row + q * VW + VW - 1);
            }
    }
    for (int k = 0; k < depth; k++) {
        vec row_real[VECTORS], row_imaginary[VECTORS];
#pragma unroll
        for (int q = 0; q < VECTORS; q++) {
#if FUSED
            row_real[q] = PART(B + q * VW, 0);
            row_imaginary[q] = PART(B + q * VW, 1);
            AT(panel + q * VW) = row_real[q];
            AT(panel + (VECTORS + q) * VW) = row_imaginary[q];
            PREFETCH(B + (VECTORS + q) * VW);
            PREFETCH((const __global REAL *)(B + (VECTORS + q) * VW) + VW);
#else
            row_real[q] = AT(panel + q * VW);
            row_imaginary[q] = AT(panel + (VECTORS + q) * VW);
#endif
        }
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
            const vec factor_real = a[i * a_row], factor_imaginary = a[a_part + i * a_row];
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                real[i][q] = fma(factor_real, row_real[q], real[i][q]);
                imaginary[i][q] = fma(factor_real, row_imaginary[q], imaginary[i][q]);
                real[i][q] = fma(-factor_imaginary, row_imaginary[q], real[i][q]);
                imaginary[i][q] = fma(factor_imaginary, row_real[q], imaginary[i][q]);
            }
        }
        a += a_step;
        panel += 2 * VECTORS * VW;
        B += b_row;
    }
#if DIRECT
    if (direct) {
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
#pragma unroll
            for (int q = 0; q < VECTORS; q++) {
                __global REAL *out = (__global REAL *)(c + q * VW);
                vec re = alpha.x * real[i][q], im = alpha.x * imaginary[i][q];
                if (alpha.y != 0) { // 0 times an infinite part would be NaN
                    re -= alpha.y * imaginary[i][q];
                    im += alpha.y * real[i][q];
                }
                if (carry) {
                    const vec old_re = PART(out, 0), old_im = PART(out, 1);
                    re += scale.x * old_re;
                    im += scale.x * old_im;
                    if (scale.y != 0) {
                        re -= scale.y * old_im;
                        im += scale.y * old_re;
                    }
                }
                LOOSE_GLOBAL(out) = interleave_low(re, im);
                LOOSE_GLOBAL(out + VW) = interleave_high(re, im);
            }
            c += c_row;
        }
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
        for (int q = 0; q < VECTORS; q++) {
            AT(tile + i * NR + q * VW) = real[i][q];
            AT(tile + (MR + i) * NR + q * VW) = imaginary[i][q];
        }
}
