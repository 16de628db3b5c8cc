// Inclusive scan in log n steps between two copies in local memory.
inline uint scan_inclusive(uint value, __local uint* data, uint size)
{
    uint pos = 2 * get_local_id(0) - (get_local_id(0) & (size - 1));
    data[pos] = 0;
    pos += size;
    data[pos] = value;
    for (uint offset = 1; offset < size; offset <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint t = data[pos] + data[pos - offset];
        barrier(CLK_LOCAL_MEM_FENCE);
        data[pos] = t;
    }
    return data[pos];
}

inline uint4 scan_four(uint4 data4, __local uint* data, uint size)
{
    data4.y += data4.x;
    data4.z += data4.y;
    data4.w += data4.z;
    uint before = scan_inclusive(data4.w, data, size / 4) - data4.w;
    return data4 + (uint4)before;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scan_two_copies(__global uint4* d_Dst, __global const uint4* d_Src, __local uint* l_Data, uint size)
{
    uint4 given = d_Src[get_global_id(0)];
    d_Dst[get_global_id(0)] = scan_four(given, l_Data, size) - given;
}
