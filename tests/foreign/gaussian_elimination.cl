// One step of elimination: multipliers are there, the rows below are updated.
__kernel void gaussian_elimination(__global const float* multipliers, __global float* a, __global float* b,
                                   const int size, const int t)
{
    int globalId = get_global_id(0);
    int idx = globalId % size;
    int idy = globalId / size;

    if (idx < size - 1 - t && idy < size - t) {
        a[size * (idx + 1 + t) + (idy + t)] -= multipliers[size * (idx + 1 + t) + t] * a[size * t + (idy + t)];
        if (idy == 0)
            b[idx + 1 + t] -= multipliers[size * (idx + 1 + t) + (idy + t)] * b[t];
    }
}
