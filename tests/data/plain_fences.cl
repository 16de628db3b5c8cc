// What any_layout.cl takes of nvidia.cl, for every driver.
INLINE void fence_acq_rel_gpu(void)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
}
