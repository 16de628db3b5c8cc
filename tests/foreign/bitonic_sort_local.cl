// Keys and values sorted in local memory, each group in its own direction.
#ifndef LOCAL_SIZE_LIMIT
#define LOCAL_SIZE_LIMIT 128
#endif
inline void ComparatorLocal(__local uint* keyA, __local uint* valA, __local uint* keyB, __local uint* valB, uint dir)
{
    if ((*keyA > *keyB) == dir) {
        uint t;
        t = *keyA; *keyA = *keyB; *keyB = t;
        t = *valA; *valA = *valB; *valB = t;
    }
}

__kernel __attribute__((reqd_work_group_size(LOCAL_SIZE_LIMIT / 2, 1, 1)))
void bitonic_sort_local(__global uint* d_DstKey, __global uint* d_DstVal, __global uint* d_SrcKey, __global uint* d_SrcVal)
{
    __local uint l_key[LOCAL_SIZE_LIMIT];
    __local uint l_val[LOCAL_SIZE_LIMIT];
    const uint at = get_group_id(0) * LOCAL_SIZE_LIMIT + get_local_id(0);
    l_key[get_local_id(0)] = d_SrcKey[at];
    l_val[get_local_id(0)] = d_SrcVal[at];
    l_key[get_local_id(0) + LOCAL_SIZE_LIMIT / 2] = d_SrcKey[at + LOCAL_SIZE_LIMIT / 2];
    l_val[get_local_id(0) + LOCAL_SIZE_LIMIT / 2] = d_SrcVal[at + LOCAL_SIZE_LIMIT / 2];
    uint comparatorI = get_global_id(0) & ((LOCAL_SIZE_LIMIT / 2) - 1);
    for (uint size = 2; size <= LOCAL_SIZE_LIMIT; size <<= 1) {
        uint dir = size < LOCAL_SIZE_LIMIT ? (comparatorI & (size / 2)) != 0 : get_group_id(0) & 1;
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint pos = 2 * get_local_id(0) - (get_local_id(0) & (stride - 1));
            ComparatorLocal(&l_key[pos], &l_val[pos], &l_key[pos + stride], &l_val[pos + stride], dir);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    d_DstKey[at] = l_key[get_local_id(0)];
    d_DstVal[at] = l_val[get_local_id(0)];
    d_DstKey[at + LOCAL_SIZE_LIMIT / 2] = l_key[get_local_id(0) + LOCAL_SIZE_LIMIT / 2];
    d_DstVal[at + LOCAL_SIZE_LIMIT / 2] = l_val[get_local_id(0) + LOCAL_SIZE_LIMIT / 2];
}
