"""mma.sync of doubles in plain OpenCL C, for the tests that run NVIDIA's kernels on other drivers."""

# Work-items exchange their operands, four of A and two of B, through local memory: six doubles of each in `held`.
EXCHANGE_AND_MULTIPLY = r"""
static inline void exchange_and_multiply(__local double* held, double* sum, const double* a, const double* b)
{
    const int item = get_local_id(0), warp = item / 32 * 32, g = item % 32 / 4, q = item % 4;
    for (int i = 0; i < 6; i++)
        held[item * 6 + i] = i < 4 ? a[i] : b[i - 4];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 4; i++)
            sum[i] += held[(warp + g * 4 + k % 4) * 6 + k / 4 * 2 + i / 2]
                    * held[(warp + (2 * q + i % 2) * 4 + k % 4) * 6 + 4 + k / 4];
    barrier(CLK_LOCAL_MEM_FENCE);
}
"""
