// wgmma of Hopper GPUs: four warps together multiply two tiles in local memory, and go on while the sums grow in
// registers.
//
// With it, what its pipelines need: registers moved from warps that load to warps that multiply, and barriers for some
// of the warps. wgmma and setmaxnreg exist for the target sm_90a alone, and OpenCL's compiler builds for sm_90. They
// stand here as PTX comments marked "//@", which the backend uncovers in the compiled PTX (Kernel.target).

#define TEXT_OF(tokens) #tokens
#define TEXT(tokens) TEXT_OF(tokens)

// Where a tile lies in local memory, as wgmma wants it: PTX ISA, "Matrix-descriptor format" of wgmma.
//
//     bits  0-13  address / 16           bits 16-29  leading distance / 16     bits 32-45  stride / 16
//     bits 49-51  0: the pattern of the swizzle begins where the address is a multiple of 1024
//     bits 62-63  1: swizzled by 128 bytes, 2: by 64
//
// With a swizzle of 128 bytes a tile consists of blocks of 8 lines of 128 bytes, 1024 bytes each. If lines run along k,
// `stride` is the distance between blocks of 8 rows, and `leading` is not used: a line has all of k that one product
// takes. If lines run across k, each holds 64 rows of 16-bit elements: `stride` is the distance between blocks of 8 k,
// and `leading` that between one 64 rows and the next. With 64 bytes all of this is half as long.
INLINE ulong wgmma_descriptor_by(const uint address, const uint leading, const uint stride, const uint line)
{
    return (ulong)((address & 0x3ffff) >> 4) | (ulong)(leading >> 4) << 16 | (ulong)(stride >> 4) << 32 | (ulong)(128 / line) << 62;
}

// The same with lines of 128 bytes.
INLINE ulong wgmma_descriptor(const uint address, const uint leading, const uint stride)
{
    return wgmma_descriptor_by(address, leading, stride, 128);
}

// Before the first wgmma, and whenever its registers were touched otherwise since the last one.
INLINE void wgmma_fence(void)
{
    asm volatile("//@wgmma.fence.sync.aligned;" ::: "memory");
}

INLINE void wgmma_commit_group(void)
{
    asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most one group, the last, is unfinished.
INLINE void wgmma_wait_group_1(void)
{
    asm volatile("//@wgmma.wait_group.sync.aligned 1;" ::: "memory");
}

INLINE void wgmma_wait_group_0(void)
{
    asm volatile("//@wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
// The registers of a sum of 64 x N, N / 2 for each work-item, as an instruction names them and as operands.
#define WGMMA_REGISTERS_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_REGISTERS_64 \
    WGMMA_REGISTERS_32 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_REGISTERS_96 \
    WGMMA_REGISTERS_64 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_REGISTERS_128 \
    WGMMA_REGISTERS_96 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_REGISTERS_160 \
    WGMMA_REGISTERS_128 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define WGMMA_REGISTERS_192 \
    WGMMA_REGISTERS_160 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_REGISTERS_224 \
    WGMMA_REGISTERS_192 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA_REGISTERS_256 \
    WGMMA_REGISTERS_224 ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define WGMMA_SUMS_4(kind, d, i) kind((d)[i]), kind((d)[i + 1]), kind((d)[i + 2]), kind((d)[i + 3])
#define WGMMA_SUMS_16(kind, d, i) \
    WGMMA_SUMS_4(kind, d, i), WGMMA_SUMS_4(kind, d, i + 4), WGMMA_SUMS_4(kind, d, i + 8), WGMMA_SUMS_4(kind, d, i + 12)
#define WGMMA_SUMS_32(kind, d) WGMMA_SUMS_16(kind, d, 0)
#define WGMMA_SUMS_64(kind, d) WGMMA_SUMS_32(kind, d), WGMMA_SUMS_16(kind, d, 16)
#define WGMMA_SUMS_96(kind, d) WGMMA_SUMS_64(kind, d), WGMMA_SUMS_16(kind, d, 32)
#define WGMMA_SUMS_128(kind, d) WGMMA_SUMS_96(kind, d), WGMMA_SUMS_16(kind, d, 48)
#define WGMMA_SUMS_160(kind, d) WGMMA_SUMS_128(kind, d), WGMMA_SUMS_16(kind, d, 64)
#define WGMMA_SUMS_192(kind, d) WGMMA_SUMS_160(kind, d), WGMMA_SUMS_16(kind, d, 80)
#define WGMMA_SUMS_224(kind, d) WGMMA_SUMS_192(kind, d), WGMMA_SUMS_16(kind, d, 96)
#define WGMMA_SUMS_256(kind, d) WGMMA_SUMS_224(kind, d), WGMMA_SUMS_16(kind, d, 112)

// An instruction's text: `text` gets what it is to begin with and to end with, the registers of the sums, and the names of the operands
// after them. (Compilers of CUDA know operands by their numbers alone.)
#define WGMMA_TEXT_32(text, types, tail) text(types, tail, WGMMA_REGISTERS_32, "%16", "%17", "%18", "%19", "%20", "%21")
#define WGMMA_TEXT_64(text, types, tail) \
    text(types, tail, WGMMA_REGISTERS_64, "%32", "%33", "%34", "%35", "%36", "%37")
#define WGMMA_TEXT_96(text, types, tail) \
    text(types, tail, WGMMA_REGISTERS_96, "%48", "%49", "%50", "%51", "%52", "%53")
#define WGMMA_TEXT_128(text, types, tail) \
    text(types, tail, WGMMA_REGISTERS_128, "%64", "%65", "%66", "%67", "%68", "%69")
#define WGMMA_TEXT_160(text, types, tail) \
    text(types, tail, WGMMA_REGISTERS_160, "%80", "%81", "%82", "%83", "%84", "%85")
#define WGMMA_TEXT_192(text, types, tail) \
    text(types, tail, WGMMA_REGISTERS_192, "%96", "%97", "%98", "%99", "%100", "%101")
#define WGMMA_TEXT_224(text, types, tail) \
    text(types, tail, WGMMA_REGISTERS_224, "%112", "%113", "%114", "%115", "%116", "%117")
#define WGMMA_TEXT_256(text, types, tail) \
    text(types, tail, WGMMA_REGISTERS_256, "%128", "%129", "%130", "%131", "%132", "%133")

#define WGMMA_OF_TILES(types, tail, sums, tile_a, tile_b, keep, unused_3, unused_4, unused_5)                        \
    "{.reg .pred kept;\n"                                                                                            \
    "setp.ne.b32 kept, " keep ", 0;\n"                                                                               \
    "//@wgmma.mma_async.sync.aligned." types " {" sums "}, " tile_a ", " tile_b ", kept" tail ";\n}"
#define WGMMA_OF_HELD(types, tail, sums, held_0, held_1, held_2, held_3, tile_b, keep)                               \
    "{.reg .pred kept;\n"                                                                                            \
    "setp.ne.b32 kept, " keep ", 0;\n"                                                                               \
    "//@wgmma.mma_async.sync.aligned." types " {" sums "}, {" held_0 ", " held_1 ", " held_2 ", " held_3 "}, " tile_b ", kept"\
    tail ";\n}"

// sums (64 x N) = tile_a (64 x k) * tile_b (k x N), plus what they were if `keep` is not 0. `types` names k and the
// element types, `kind` is how the sums' type is bound ("+f" or "+r"), `tail` ends the operands. The tiles are
// descriptors.
#define wgmma_mma_async(N, types, kind, sums, tile_a, tile_b, keep, tail)                                            \
    asm volatile(JOIN(WGMMA_TEXT_, N)(WGMMA_OF_TILES, "m64n" TEXT(N) types, tail)                                    \
                 : JOIN(WGMMA_SUMS_, N)(kind, sums)                                                                  \
                 : "l"(tile_a), "l"(tile_b), "r"((int)(keep)))

// The same with the first tile, 64 x k, in registers of the warpgroup: `held` are four of each work-item. They must
// stay as they are until the product is known to be complete.
#define wgmma_mma_async_held(N, types, kind, sums, held, tile_b, keep, tail)                                         \
    asm volatile(JOIN(WGMMA_TEXT_, N)(WGMMA_OF_HELD, "m64n" TEXT(N) types, tail)                                     \
                 : JOIN(WGMMA_SUMS_, N)(kind, sums)                                                                  \
                 : "r"((held)[0]), "r"((held)[1]), "r"((held)[2]), "r"((held)[3]), "l"(tile_b), "r"((int)(keep)))

// After wgmma_wait_group_0(): the sums are ready from here on, and no use of them may come before.
#define wgmma_ready(N, kind, sums) asm volatile("" : JOIN(WGMMA_SUMS_, N)(kind, sums)::"memory")

// One for each pair of element types. a_across, b_across: 1 if the tile's lines run across k (16-bit elements only).
#define wgmma_f32_f16(N, sums, tile_a, tile_b, keep, a_across, b_across) \
    wgmma_mma_async(N, "k16.f32.f16.f16", "+f", sums, tile_a, tile_b, keep, ", 1, 1, " TEXT(a_across) ", " TEXT(b_across))
#define wgmma_f32_bf16(N, sums, tile_a, tile_b, keep, a_across, b_across) \
    wgmma_mma_async(N, "k16.f32.bf16.bf16", "+f", sums, tile_a, tile_b, keep, ", 1, 1, " TEXT(a_across) ", " TEXT(b_across))
#define wgmma_f32_tf32(N, sums, tile_a, tile_b, keep, a_across, b_across) \
    wgmma_mma_async(N, "k8.f32.tf32.tf32", "+f", sums, tile_a, tile_b, keep, ", 1, 1")
// Number i of `held` is of row lane / 4 + i % 2 * 8 of the 16 of its warp, and of k lane % 4 + i / 2 * 4.
#define wgmma_f32_tf32_held(N, sums, held, tile_b, keep) \
    wgmma_mma_async_held(N, "k8.f32.tf32.tf32", "+f", sums, held, tile_b, keep, ", 1, 1")
#define wgmma_s32_s8(N, sums, tile_a, tile_b, keep, a_across, b_across) \
    wgmma_mma_async(N, "k32.s32.s8.s8", "+r", sums, tile_a, tile_b, keep, "")
#define wgmma_s32_u8(N, sums, tile_a, tile_b, keep, a_across, b_across) \
    wgmma_mma_async(N, "k32.s32.u8.u8", "+r", sums, tile_a, tile_b, keep, "")
#define wgmma_f32_e4m3(N, sums, tile_a, tile_b, keep, a_across, b_across) \
    wgmma_mma_async(N, "k32.f32.e4m3.e4m3", "+f", sums, tile_a, tile_b, keep, ", 1, 1")
#define wgmma_f32_e5m2(N, sums, tile_a, tile_b, keep, a_across, b_across) \
    wgmma_mma_async(N, "k32.f32.e5m2.e5m2", "+f", sums, tile_a, tile_b, keep, ", 1, 1")
// Registers of each work-item of this warpgroup from here on, a multiple of 8: fewer, so that another may have more.
#define setmaxnreg_dec(registers) asm volatile("//@setmaxnreg.dec.sync.aligned.u32 " TEXT(registers) ";")
#define setmaxnreg_inc(registers) asm volatile("//@setmaxnreg.inc.sync.aligned.u32 " TEXT(registers) ";")

// A barrier for the `items` work-items, whole warps, that name the same `number` from 1 to 15; 0 is barrier()'s.
INLINE void bar_sync(const uint number, const uint items)
{
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(items) : "memory");
}

// Four 8 x 8 matrices of 16-bit elements from a warp's registers to local memory; lane 8 i + r says where row r of
// matrix i goes. Each lane holds two neighbours of each matrix: row lane / 4, columns 2 (lane % 4) and the next.
INLINE void stmatrix_x4(const uint row_address, const uint a, const uint b, const uint c, const uint d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(row_address), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}

// The same, but each matrix is stored transposed: its columns go to the addresses of the rows.
INLINE void stmatrix_x4_trans(const uint row_address, const uint a, const uint b, const uint c, const uint d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(row_address), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}

// Two fp32 rounded to 16 bits each, the first in the lower half.
INLINE uint cvt_rn_f16x2_f32(const float first, const float second)
{
    uint both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
}

INLINE uint cvt_rn_bf16x2_f32(const float first, const float second)
{
    uint both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
}

// Waits until all but the last of the stores committed by this work-item have read their local memory.
INLINE void bulk_wait_group_read_1(void)
{
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
}
