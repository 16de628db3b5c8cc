// NVIDIA's instructions that OpenCL C lacks: one wrapper per PTX instruction, named after it.

// Sixteen bytes through the read-only cache. `address` must be a multiple of 16, and the bytes must not be written
// while the kernel runs.
static inline uint4 ld_global_nc_v4(const __global uint* address)
{
    uint4 words;
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
        : "l"(address));
    return words;
}

// The `value` that work-item `lane` of this warp holds. All 32 must get here together.
static inline uint shfl_sync_idx(uint value, uint lane)
{
    uint other;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(other) : "r"(value), "r"(lane));
    return other;
}

// The 32-bit address that PTX instructions on local memory take.
static inline uint local_address(const __local void* pointer)
{
    return (uint)(size_t)pointer;
}

// Orders this work-item's accesses for all work-groups: who sees a later write sees all earlier ones, too.
static inline void fence_acq_rel_gpu(void)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// A barrier of a warp's 32 work-items; each sees what the others wrote to memory before it.
static inline void bar_warp_sync(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

// Nanoseconds since some moment in the past, the same for the whole device.
static inline ulong globaltimer(void)
{
    ulong now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) :: "memory");
    return now;
}
