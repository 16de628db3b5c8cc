// Each work-item has its own column of byte counters in local memory; the columns are added at the end.
#define BINS 64
__kernel void histogram_of_bytes(__global const uchar4* data, __local uchar* counters, __global uint* binResult,
                                 uint perItem)
{
    size_t lid = get_local_id(0), gid = get_global_id(0);
    size_t groupSize = get_local_size(0);
    for (int i = 0; i < BINS; ++i)
        counters[i * groupSize + lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < perItem; ++i) {
        uchar4 v = data[gid * perItem + i] & (uchar4)(BINS - 1);
        counters[(uint)v.x * groupSize + lid]++;
        counters[(uint)v.y * groupSize + lid]++;
        counters[(uint)v.z * groupSize + lid]++;
        counters[v.w * groupSize + lid] += (uchar)1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < BINS / groupSize; ++i) {
        int binCount = 0;
        int bin = groupSize * i + lid;
        for (int j = 0; j < groupSize; ++j)
            binCount += counters[bin * groupSize + j];
        binResult[get_group_id(0) * BINS + bin] = binCount;
    }
}
