// 16-bit floats of main_loop_elements.cl: how a warp's operands get from panels into registers, and what multiplies them.
//
// MMA  the instruction's wrapper: of f16 or bf16
//
// ldmatrix reads eight lines of 16 bytes at a time, and transposes them where lines lie across k. PAD unused elements keep
// them in different banks.

#define MMA_K 16

// The operands of 16 rows of A from `row` on, for MMA_K elements from `k` on.
INLINE void read_a(uint* fragment, const local STORED* panel, const int row, const int k)
{
    const int lane = get_local_id(0) % 32;
#if A_ORDER == PANEL_ALONG_K
    ldmatrix_x4(fragment, a_line(panel, row + lane % 16, k + lane / 16 * 8));
#else
    ldmatrix_x4_trans(fragment, a_line(panel, k + lane / 16 * 8 + lane % 8, row + lane / 8 % 2 * 8));
#endif
}

// The operands of twice 8 columns of B from `column` on.
INLINE void read_b(uint* fragment, const local STORED* panel, const int column, const int k)
{
    const int lane = get_local_id(0) % 32;
#if B_ORDER == PANEL_ALONG_K
    ldmatrix_x4(fragment, b_line(panel, column + lane / 16 * 8 + lane % 8, k + lane / 8 % 2 * 8));
#else
    ldmatrix_x4_trans(fragment, b_line(panel, k + lane % 16, column + lane / 16 * 8));
#endif
}

INLINE void multiply(COMPONENT sum[TILES_M][TILES_N][4], const local STORED* panel, const int2 warp, const int slice)
{
#pragma unroll
    for (int inside = 0; inside < SLICE_DEPTH; inside += MMA_K) {
        const int k = slice * SLICE_DEPTH + inside;
        uint a[TILES_M][4], b[TILES_N][2];
#pragma unroll
        for (int i = 0; i < TILES_M; i++)
            read_a(a[i], panel, warp.x + i * 16, k);
#pragma unroll
        for (int j = 0; j < TILES_N; j += 2)
            read_b(b[j], panel + A_PANEL, warp.y + j * 8, k);
#pragma unroll
        for (int i = 0; i < TILES_M; i++)
#pragma unroll
            for (int j = 0; j < TILES_N; j++)
                MMA(sum[i][j], a[i], b[j]);
    }
}
