// Clusters of two work-groups, neighbours in C, on SMs that share a network: what TMA loads for one it writes to both.
//
// CUDA launches clusters, since sm_90; OpenCL has none. One wrapper per PTX instruction, named after it, as in prelude/tma.cl.

#define EVERY_RANK ((1 << CLUSTER) - 1)  // a bit for each work-group

// Loads the box of matrix number `z` to this place in the local memory of all work-groups of the cluster. Its bytes count on the barrier
// at the same place in each of them.
INLINE void cp_async_bulk_tensor_3d_multicast(const uint to, const __global ulong* map, const int x, const int y, const int z,
                                              const uint barrier_address)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3, %4}], [%5], %6;"
                 ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier_address), "h"((ushort)EVERY_RANK)
                 : "memory");
}

// Arrives at the barrier at this place in work-group `rank` of the cluster. It releases no ordinary writes to it: `.release.cluster`
// would do so by a fence of the whole GPU: with one at each stage products took 1.2 to 2.5 times as long on an H100.
INLINE void mbarrier_arrive_cluster(const uint barrier_address, const uint rank)
{
    asm volatile("{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(barrier_address), "r"(rank) : "memory");
}

// The number of this work-group in its cluster.
INLINE uint cluster_ctarank(void)
{
    uint rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// A barrier of all work-items of the cluster. Barriers that were initialised and fenced before it can be used after it.
INLINE void barrier_cluster(void)
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
