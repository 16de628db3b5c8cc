// The largest of each segment, by atomics on the bits of positive floats.
__kernel void segment_maximum(__global const float* values, __global const ushort* segment, __global uint* largest,
                              __global int* smallest_index, int n)
{
    int i = get_global_id(0);
    if (i < n) {
        atomic_max(&largest[segment[i]], as_uint(fabs(values[i])));
        atomic_min(smallest_index + segment[i], i);
        atomic_or(&largest[0], 1u);
    }
}
