// Counts of each digit in a group's keys, private to each work-item first.
#define RADIX 4
#define BUCKETS (1 << RADIX)
__kernel void radix_count(__global const uint* keys, __global uint* buckets, __local ushort* counts, uint shift, uint each)
{
    const uint lid = get_local_id(0), size = get_local_size(0);
    for (uint b = 0; b < BUCKETS; b++)
        counts[b * size + lid] = 0;
    for (uint i = 0; i < each; i++) {
        uint key = keys[get_global_id(0) * each + i];
        uint digit = (key >> shift) & (BUCKETS - 1);
        counts[digit * size + lid]++;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < BUCKETS) {
        uint total = 0;
        for (uint i = 0; i < size; i++)
            total += counts[lid * size + i];
        buckets[lid * get_num_groups(0) + get_group_id(0)] = total;
    }
}
