// Alignment of two sequences: one diagonal of blocks, a block by 16 work-items that sweep its diagonals.
#define BLOCK 16
#define SCORE(a, b) score_l[(a) * (BLOCK + 1) + (b)]
int largest(int a, int b, int c)
{
    int k = a <= b ? b : a;
    return k <= c ? c : k;
}
__kernel void sequence_alignment(__global int* reference, __global int* itemsets, __local int* score_l, int cols,
                                 int penalty, int block_x, int block_y)
{
    const int tx = get_local_id(0);
    const int base = cols * BLOCK * block_y + BLOCK * block_x;
    const int index = base + cols + 1 + tx;
    if (tx == 0)
        SCORE(0, 0) = itemsets[base];
    SCORE(tx + 1, 0) = itemsets[base + cols * (tx + 1)];
    SCORE(0, tx + 1) = itemsets[base + tx + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int m = 0; m < BLOCK; m++) {
        if (tx <= m) {
            int x = tx + 1, y = m - tx + 1;
            SCORE(y, x) = largest(SCORE(y - 1, x - 1) + reference[base + cols * y + x], SCORE(y, x - 1) - penalty, SCORE(y - 1, x) - penalty);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int m = BLOCK - 2; m >= 0; m--) {
        if (tx <= m) {
            int x = tx + BLOCK - m, y = BLOCK - tx;
            SCORE(y, x) = largest(SCORE(y - 1, x - 1) + reference[base + cols * y + x], SCORE(y, x - 1) - penalty, SCORE(y - 1, x) - penalty);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int ty = 0; ty < BLOCK; ty++)
        itemsets[index + ty * cols] = SCORE(ty + 1, tx + 1);
}
