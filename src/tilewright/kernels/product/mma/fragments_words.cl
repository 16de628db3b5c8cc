// Elements of 1, 2 and 4 bytes: how a warp's operands get from panels into registers, and the instruction that multiplies.
//
// MMA         the instruction's wrapper: of f16, bf16, tf32 or s8
// ITEM_BYTES  bytes of an element: 32 bytes of k make one instruction, whatever they are
//
// Operands along k come by ldmatrix, which moves words whatever they hold: eight lines of 16 bytes at a time, so lines that
// are neighbours are swizzled one chunk of 16 bytes apart; of lines shorter than 128 bytes, those that share 128 bytes are
// swizzled alike. Across k, ldmatrix transposes elements of 2 bytes; those of 4 bytes are read one by one, four lines by eight
// neighbours at a time, and swizzled as doubles are. It cannot transpose single bytes.

#define FRAGMENT uint
#define MMA_K (32 / ITEM_BYTES)
#define A_PARTS 4   // words that a work-item holds of 16 rows of A
#define B_PARTS 2   // and of 8 columns of B
#define B_TILES 2   // of 8 columns of B that are read at once
#define BY_ROWS(order) ((order) == PANEL_ALONG_K | ITEM_BYTES == 2)  // of 16 bytes, by ldmatrix
#define ALIKE(length, line) ((length) < 128 ? (line) / (128 / (length)) & (length) / 16 - 1 : (line) & 7)
#define SWIZZLED(order, length, line, byte) ((byte) ^ (BY_ROWS(order) ? ALIKE(length, line) << 4 : ((line) & 3) << 5))

// Where element (row, k) of a panel lies.
INLINE const local uchar* panel_place(const local uchar* panel, const int order, const int side, const int row, const int k)
{
    const int line = order == PANEL_ALONG_K ? k / BLOCK * side + row : k, place = order == PANEL_ALONG_K ? k % BLOCK : row;
    const int length = order == PANEL_ALONG_K ? BLOCK : side;
    return panel + line * length * ITEM_BYTES + SWIZZLED(order, length * ITEM_BYTES, line, place * ITEM_BYTES);
}

INLINE uint panel_word(const local uchar* panel, const int order, const int side, const int row, const int k)
{
    return *(const local uint*)panel_place(panel, order, side, row, k);
}

// The operands of 16 rows of A from `row` on, for MMA_K elements from `k` on.
INLINE void read_a(uint* fragment, const local uchar* panel, const int row, const int k)
{
    const int lane = get_local_id(0) % 32;
#if A_ORDER == PANEL_ALONG_K
    ldmatrix_x4(fragment, panel_place(panel, A_ORDER, BM, row + lane % 16, k + lane / 16 * MMA_K / 2));
#elif ITEM_BYTES == 2
    ldmatrix_x4_trans(fragment, panel_place(panel, A_ORDER, BM, row + lane / 8 % 2 * 8, k + lane / 16 * 8 + lane % 8));
#else
#pragma unroll
    for (int i = 0; i < 4; i++)
        fragment[i] = panel_word(panel, A_ORDER, BM, row + lane / 4 + i % 2 * 8, k + lane % 4 + i / 2 * 4);
#endif
}

// The operands of twice 8 columns of B from `column` on.
INLINE void read_b(uint* fragment, const local uchar* panel, const int column, const int k)
{
    const int lane = get_local_id(0) % 32;
#if B_ORDER == PANEL_ALONG_K
    ldmatrix_x4(fragment, panel_place(panel, B_ORDER, BN, column + lane / 16 * 8 + lane % 8, k + lane / 8 % 2 * MMA_K / 2));
#elif ITEM_BYTES == 2
    ldmatrix_x4_trans(fragment, panel_place(panel, B_ORDER, BN, column + lane / 16 * 8, k + lane % 16));
#else
#pragma unroll
    for (int i = 0; i < 4; i++)
        fragment[i] = panel_word(panel, B_ORDER, BN, column + i / 2 * 8 + lane / 4, k + lane % 4 + i % 2 * 4);
#endif
}

INLINE void multiply(COMPONENT* sum, const uint* a, const uint* b)
{
    MMA(sum, a, b);
}
