// Doubles: how a warp's operands get from panels into registers, and the instruction that multiplies them.
//
// MMA_M, MMA_K  shape of the instruction: 16 x 8 x 4, 8 or 16 since sm_90, and 8 x 8 x 4 since sm_80
//
// A warp reads elements of 8 bytes in two halves: 16 work-items, four lines of a panel by four neighbours. Lines that are
// neighbours are swizzled two chunks of 16 bytes apart, so that the four meet all 32 banks once.

#define FRAGMENT double
#define SWIZZLED(order, length, line, byte) ((byte) ^ ((line) & 3) << 5)
#define A_PARTS (MMA_K / 2)  // elements that a work-item holds of 16 rows of A
#define B_PARTS (MMA_K / 4)  // and of 8 columns of B
#define B_TILES 1            // of 8 columns of B that are read at once
#define ITEM_BYTES 8

INLINE double panel_element(const local uchar* panel, const int order, const int side, const int row, const int k)
{
    const int line = order == PANEL_ALONG_K ? k / BLOCK * side + row : k, place = order == PANEL_ALONG_K ? k % BLOCK : row;
    const int length = order == PANEL_ALONG_K ? BLOCK : side;
    const int swizzled = SWIZZLED(order, length * ITEM_BYTES, line, place * ITEM_BYTES);
    return *(const local double*)(panel + line * length * ITEM_BYTES + swizzled);
}

// The operands of 16 rows of A from `row` on, for MMA_K elements from `k` on.
INLINE void read_a(double* fragment, const local uchar* panel, const int row, const int k)
{
    const int lane = get_local_id(0) % 32;
#pragma unroll
    for (int i = 0; i < A_PARTS; i++)
        fragment[i] = panel_element(panel, A_ORDER, BM, row + lane / 4 + i % 2 * 8, k + lane % 4 + i / 2 * 4);
}

// The operands of 8 columns of B from `column` on.
INLINE void read_b(double* fragment, const local uchar* panel, const int column, const int k)
{
    const int lane = get_local_id(0) % 32;
#pragma unroll
    for (int i = 0; i < B_PARTS; i++)
        fragment[i] = panel_element(panel, B_ORDER, BN, column + lane / 4, k + lane % 4 + i * 4);
}

INLINE void multiply(double* sum, const double* a, const double* b)
{
#if MMA_M == 8
#pragma unroll
    for (int k = 0; k < MMA_K / 4; k++) {
        mma_sync_m8n8k4_f64(sum, a[2 * k], b[k]);
        mma_sync_m8n8k4_f64(sum + 2, a[2 * k + 1], b[k]);
    }
#elif MMA_K == 16
    mma_sync_m16n8k16_f64(sum, a, b);
#elif MMA_K == 8
    mma_sync_m16n8k8_f64(sum, a, b);
#else
    mma_sync_m16n8k4_f64(sum, a, b);
#endif
}
