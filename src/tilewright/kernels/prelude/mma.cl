// Matrix instructions of a warp, since sm_80: one wrapper per PTX instruction, named after it.
//
// mma.sync multiplies small matrices that lie in the registers of a warp's 32 work-items; ldmatrix and cp.async bring
// them there. In all shapes, with lane = 4 * g + q: of a sum of 16 x 8, a work-item holds columns 2q and 2q + 1 of row
// g, then of row g + 8. How A (16 x K) and B (K x 8) are spread is said at each wrapper. PTX ISA, "Matrix Fragments for
// mma".

// 16 x 8 x 4, fp64. A: row g, then g + 8, of column q. B: row q of column g.
INLINE void mma_sync_m16n8k4_f64(double* sum, const double* a, const double* b)
{
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}

// 16 x 8 x 8, fp64. A: rows g, g + 8 of column q, then of q + 4. B: rows q, q + 4 of column g.
INLINE void mma_sync_m16n8k8_f64(double* sum, const double* a, const double* b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

// 16 x 8 x 16, fp64. A: rows g, g + 8 of column q, then of q + 4, q + 8, q + 12. B: rows q, q + 4, ... of column g.
INLINE void mma_sync_m16n8k16_f64(double* sum, const double* a, const double* b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
                 : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
                   "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

// 8 x 8 x 4, fp64: the only such instruction before sm_90. Sum: columns 2q, 2q + 1 of row g. A: row g of column q.
INLINE void mma_sync_m8n8k4_f64(double* sum, const double a, const double b)
{
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(sum[0]), "+d"(sum[1])
                 : "d"(a), "d"(b));
}

// Starts to copy 16 bytes from global to local memory, past the L1 cache, or zeros: `bytes` is 16 or 0.
INLINE void cp_async_cg_16(const uint to, const __global void* from, const uint bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// The same for 8 and 4 bytes, through the L1 cache.
INLINE void cp_async_ca_8(const uint to, const __global void* from, const uint bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

INLINE void cp_async_ca_4(const uint to, const __global void* from, const uint bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// The copies started since the last commit become a group.
INLINE void cp_async_commit_group(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `pending` of this work-item's groups, the latest, are unfinished. A macro: it must be a constant.
#define cp_async_wait_group(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

// 16 x 8 x 16, fp16, two in a word, summed in fp32. A: words 2q of rows g, g + 8, then those 8 further. B: words 2q,
// 2q + 8 of column g.
INLINE void mma_sync_m16n8k16_f32_f16(float* sum, const uint* a, const uint* b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same for bfloat16.
INLINE void mma_sync_m16n8k16_f32_bf16(float* sum, const uint* a, const uint* b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// 16 x 8 x 8, tf32: the lower 13 bits of the words are not used. A: columns q of rows g, g + 8, then q + 4.
INLINE void mma_sync_m16n8k8_f32_tf32(float* sum, const uint* a, const uint* b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// 16 x 8 x 32, int8, four in a word, summed in int32 that wraps. A: words 4q of rows g, g + 8, then those 16 further.
INLINE void mma_sync_m16n8k32_s32_s8(int* sum, const uint* a, const uint* b)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same of uint8.
INLINE void mma_sync_m16n8k32_s32_u8(int* sum, const uint* a, const uint* b)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Four matrices of 8 rows of 16 bytes. Lane i gives the address of row i % 8 of matrix i / 8; lane 4 * g + q gets word
// q of row g of each: what mma.sync wants of operands that lie along k.
INLINE void ldmatrix_x4(uint* held, const local void* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3])
                 : "r"(local_address(row))
                 : "memory");
}

// The same with matrices of 8 x 8 fp16 elements transposed: for operands that lie across k.
INLINE void ldmatrix_x4_trans(uint* held, const local void* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3])
                 : "r"(local_address(row))
                 : "memory");
}

// A float as bf16, rounded to the nearest, ties to even. Every NaN becomes one and the same.
INLINE ushort cvt_rn_bf16_f32(const float value)
{
    ushort bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
