// A histogram of a group by atomics in local memory, added to the global one by atomics.
#pragma OPENCL EXTENSION cl_khr_local_int32_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable
#define BINS 32
__kernel void histogram_local_atomics(__global const uint* data, __global uint* histogram, uint count)
{
    __local uint own[BINS];
    for (uint i = get_local_id(0); i < BINS; i += get_local_size(0))
        own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        uint word = data[i];
        atomic_inc(&own[(word >> 0) & (BINS - 1)]);
        atom_add(own + ((word >> 8) & (BINS - 1)), 1u);
        atomic_add(&own[(word >> 16) & (BINS - 1)], 2);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < BINS; i += get_local_size(0))
        if (own[i] > 0)
            atomic_add(&histogram[i], own[i]);
}
