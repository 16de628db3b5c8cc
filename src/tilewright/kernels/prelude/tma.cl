// TMA of Hopper GPUs, and the barriers that count its bytes: one wrapper per PTX instruction, named after it.
//
// A "local address" is the 32-bit one that PTX wants: local_address(pointer). Coordinates are in elements, the fastest
// dimension first. Elements outside the matrix are read as zeros and not written. The first coordinate must be a
// multiple of 16 bytes, as the matrix's address and strides are: on an H200 any other is an illegal instruction.

INLINE void mbarrier_init(const uint barrier_address, const uint arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier_address), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to TMA; then the work-group's own barrier() makes them visible to all.
INLINE void fence_mbarrier_init(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Ordinary writes to local memory before this are seen by TMA and wgmma after it.
INLINE void fence_proxy_async(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

INLINE void mbarrier_arrive(const uint barrier_address)
{
    asm volatile("{.reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0];}" ::"r"(barrier_address) : "memory");
}

// Arrives, and makes the barrier's phase wait for `bytes` more from TMA.
INLINE void mbarrier_arrive_expect_tx(const uint barrier_address, const uint bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(barrier_address), "r"(bytes) : "memory");
}

// Waits until the phase of that parity is complete. A new barrier is in phase 0, so that parity 1 counts as complete.
INLINE void mbarrier_wait(const uint barrier_address, const uint parity)
{
    asm volatile("{.reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;}" ::"r"(barrier_address), "r"(parity) : "memory");
}

// The map's matrix begins at `address`, a multiple of 16: corrects the map if it says otherwise. Buffers may move
// between launches, so each work-group asks; those that correct it together all write the same. The first word of a
// tensor map is the address: the host compares two maps before it offers TMA.
INLINE void tensormap_address(__global ulong* map, const ulong address)
{
    volatile __global ulong* first = map;
    if (*first != address) {
        *first = address;
        asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    }
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

// Loads the map's box at column `x`, row `y` to local memory; its bytes count on the barrier.
INLINE void cp_async_bulk_tensor_2d(const uint to, const __global ulong* map, const int x, const int y,
                                           const uint barrier_address)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier_address)
                 : "memory");
}

// The same from matrix number `z` of a batch.
INLINE void cp_async_bulk_tensor_3d(const uint to, const __global ulong* map,
                                           const int x, const int y, const int z,
                                           const uint barrier_address)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                 ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier_address)
                 : "memory");
}

// The same with a policy for the L2 cache.
INLINE void cp_async_bulk_tensor_3d_hint(const uint to, const __global ulong* map,
                                                const int x, const int y, const int z,
                                                const uint barrier_address, const ulong policy)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%2, %3, %4}], [%5], %6;"
                 ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier_address), "l"(policy)
                 : "memory");
}

// A policy for data that is used once: it is evicted first.
INLINE ulong createpolicy_evict_first(void)
{
    ulong policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

// Writes a box from local memory; fence_proxy_async() and a barrier come before it, bulk_commit_group() after it.
INLINE void cp_async_bulk_tensor_2d_store(const __global ulong* map, const int x, const int y, const uint from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(x), "r"(y), "r"(from)
                 : "memory");
}

INLINE void cp_async_bulk_tensor_3d_store(const __global ulong* map,
                                                 const int x, const int y, const int z, const uint from)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];"
                 ::"l"(map), "r"(x), "r"(y), "r"(z), "r"(from)
                 : "memory");
}

INLINE void bulk_commit_group(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until the local memory of all stores committed by this work-item has been read, and may be written again.
INLINE void bulk_wait_group_read(void)
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Waits until all stores committed by this work-item are complete.
INLINE void bulk_wait_group(void)
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
