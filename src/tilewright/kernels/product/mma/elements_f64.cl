// Doubles of main_loop_elements.cl, real and complex: how a warp's operands get from panels into registers, and what multiplies them.
//
// A warp reads doubles in two halves, four lines by four neighbours, and complex numbers in four quarters, two lines by four.
// With a pitch of 4 elements above a multiple of 8 they meet all banks once. A complex product is four of real numbers.

#define MMA_K 8

INLINE const local double* element_of_a(const local double* panel, const int row, const int k)
{
#if A_ORDER == PANEL_ALONG_K
    return a_line(panel, row, k);
#else
    return a_line(panel, k, row);
#endif
}

INLINE const local double* element_of_b(const local double* panel, const int column, const int k)
{
#if B_ORDER == PANEL_ALONG_K
    return b_line(panel, column, k);
#else
    return b_line(panel, k, column);
#endif
}

// Parts of an element, each in the place that it has among the operands of an instruction.
INLINE void spread(double parts[PARTS][4], const int place, const local double* element, const int conjugate)
{
#if PARTS == 2
    const double2 both = *(const local double2*)element;
    parts[0][place] = both.x;
    parts[1][place] = conjugate ? -both.y : both.y;
#else
    parts[0][place] = *element;
#endif
}

// sum += a b for 16 rows and 8 columns.
INLINE void multiply_tile(double sum[PARTS][4], double a[PARTS][4], double b[PARTS][4])
{
    mma_sync_m16n8k8_f64(sum[0], a[0], b[0]);
#if PARTS == 2
    double less[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        less[i] = -a[1][i];
    mma_sync_m16n8k8_f64(sum[1], a[0], b[1]);
    mma_sync_m16n8k8_f64(sum[0], less, b[1]);
    mma_sync_m16n8k8_f64(sum[1], a[1], b[0]);
#endif
}

INLINE void multiply(double sum[TILES_M][TILES_N * PARTS][4], const local double* panel, const int2 warp, const int slice)
{
    const int g = get_local_id(0) % 32 / 4, q = get_local_id(0) % 4;
#pragma unroll
    for (int inside = 0; inside < SLICE_DEPTH; inside += MMA_K) {
        const int k = slice * SLICE_DEPTH + inside + q;
        double a[TILES_M][PARTS][4], b[TILES_N][PARTS][4];
#pragma unroll
        for (int i = 0; i < TILES_M * 4; i++)
            spread(a[i / 4], i % 4, element_of_a(panel, warp.x + i / 4 * 16 + i % 2 * 8 + g, k + i % 4 / 2 * 4), CONJUGATE_A);
#pragma unroll
        for (int j = 0; j < TILES_N * 2; j++)
            spread(b[j / 2], j % 2, element_of_b(panel + A_PANEL, warp.y + j / 2 * 8 + g, k + j % 2 * 4), CONJUGATE_B);
#pragma unroll
        for (int i = 0; i < TILES_M; i++)
#pragma unroll
            for (int j = 0; j < TILES_N; j++)
                multiply_tile(sum[i] + j * PARTS, a[i], b[j]);
    }
}
