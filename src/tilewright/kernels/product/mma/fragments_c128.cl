// complex128: how a warp's operands get from panels into registers, and the instruction that multiplies them.
//
// An instruction multiplies eight doubles of k: four elements, first their real parts, then their imaginary parts. So a work-item
// has both parts of an element, and reads them at once. B is given twice: for the real sums with its imaginary parts negated, and
// for the imaginary sums with its parts exchanged.
//
// A quarter of a warp reads elements together: two lines of a panel by four neighbours along k, or four lines by two across it.
// Lines that are neighbours are swizzled four or two chunks of 16 bytes apart, so that the eight meet all 32 banks once.

#define FRAGMENT double
#define ITEM_BYTES 16
#define SWIZZLED(order, length, line, byte) ((byte) ^ ((order) == PANEL_ALONG_K ? ((line) & 1) << 6 : ((line) & 3) << 5))
#define MMA_K 4    // elements
#define A_PARTS 4  // doubles that a work-item holds of 16 rows of A
#define B_PARTS 2  // and of 8 columns of B, for one part of the sums
#define B_TILES 2  // of sums, whose operands are read at once: the two parts

// An element of a panel; with `conjugate`, its conjugate.
INLINE double2 panel_element(const local uchar* panel, const int order, const int side, const int row, const int k,
                             const int conjugate)
{
    const int line = order == PANEL_ALONG_K ? k / BLOCK * side + row : k, place = order == PANEL_ALONG_K ? k % BLOCK : row;
    const int length = order == PANEL_ALONG_K ? BLOCK : side;
    const int swizzled = SWIZZLED(order, length * ITEM_BYTES, line, place * ITEM_BYTES);
    double2 element = *(const local double2*)(panel + line * length * ITEM_BYTES + swizzled);
    if (conjugate)
        element.y = -element.y;
    return element;
}

// The operands of 16 rows of A from `row` on, for MMA_K elements from `k` on.
INLINE void read_a(double* fragment, const local uchar* panel, const int row, const int k)
{
    const int lane = get_local_id(0) % 32;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const double2 element = panel_element(panel, A_ORDER, BM, row + lane / 4 + i * 8, k + lane % 4, CONJUGATE_A);
        fragment[i] = element.x, fragment[2 + i] = element.y;
    }
}

// The operands of 8 columns of B from `column` on, for both parts of the sums.
INLINE void read_b(double* fragment, const local uchar* panel, const int column, const int k)
{
    const int lane = get_local_id(0) % 32;
    const double2 element = panel_element(panel, B_ORDER, BN, column + lane / 4, k + lane % 4, CONJUGATE_B);
    fragment[0] = element.x, fragment[1] = -element.y;
    fragment[2] = element.y, fragment[3] = element.x;
}

INLINE void multiply(double* sum, const double* a, const double* b)
{
    mma_sync_m16n8k8_f64(sum, a, b);
}
