// Haar wavelet of a group's signal, level by level in local memory.
__kernel void haar_wavelet(__global const float* inSignal, __global float* coefsSignal, __global float* averages,
                           __local float* sharedArray, uint levels)
{
    size_t localId = get_local_id(0), groupId = get_group_id(0), localSize = get_local_size(0);
    float t0 = inSignal[groupId * localSize * 2 + localId];
    float t1 = inSignal[groupId * localSize * 2 + localSize + localId];
    sharedArray[localId] = t0;
    sharedArray[localSize + localId] = t1;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint active = localSize;
    uint base = groupId * localSize * 2;
    for (uint level = 0; level < levels; ++level) {
        float a = 0, b = 0;
        if (localId < active) {
            a = sharedArray[2 * localId];
            b = sharedArray[2 * localId + 1];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (localId < active) {
            sharedArray[localId] = (a + b) * M_SQRT1_2_F;
            coefsSignal[base + active + localId] = (a - b) * 0.70710678f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        active >>= 1;
    }
    if (localId == 0)
        averages[groupId] = sharedArray[0];
}
