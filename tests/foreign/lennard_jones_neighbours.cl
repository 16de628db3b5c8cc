// Forces by a list of neighbours, three coordinates of a vector of four.
__kernel void lennard_jones_neighbours(__global float4* force, __global const float4* restrict position,
                                       const int neighCount, __global const int* restrict neighList, const float cutsq,
                                       const float lj1, const float lj2, const int inum)
{
    uint idx = get_global_id(0);
    float4 ipos = position[idx];
    float4 f = {0.0f, 0.0f, 0.0f, 0.0f};
    int j = 0;
    while (j < neighCount) {
        int jidx = neighList[j * inum + idx];
        float4 jpos = position[jidx];
        float delx = ipos.x - jpos.x, dely = ipos.y - jpos.y, delz = ipos.z - jpos.z;
        float r2inv = delx * delx + dely * dely + delz * delz;
        if (r2inv < cutsq) {
            r2inv = 1.0f / r2inv;
            float r6inv = r2inv * r2inv * r2inv;
            float forceC = r2inv * r6inv * (lj1 * r6inv - lj2);
            f.x += delx * forceC;
            f.y += dely * forceC;
            f.z += delz * forceC;
        }
        j++;
    }
    force[idx] = f;
}
