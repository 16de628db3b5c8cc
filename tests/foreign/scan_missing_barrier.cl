// FAULT: a scan in place that reads what its neighbour is just writing.
__kernel void scan_missing_barrier(__global const int* in, __global int* out)
{
    __local int data[64];
    int lid = get_local_id(0);
    data[lid] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int offset = 1; offset < 64; offset <<= 1) {
        if (lid >= offset)
            data[lid] += data[lid - offset];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = data[lid];
}
