// Forces of all bodies on each, a tile of positions at a time in local memory.
__kernel void nbody_tiles(__global float4* pos, __global float4* vel, int numBodies, float deltaTime, float epsSqr,
                          __local float4* localPos, __global float4* newPosition, __global float4* newVelocity)
{
    unsigned int tid = get_local_id(0), gid = get_global_id(0), localSize = get_local_size(0);
    unsigned int numTiles = numBodies / localSize;
    float4 myPos = pos[gid];
    float4 acc = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = 0; i < numTiles; ++i) {
        localPos[tid] = pos[i * localSize + tid];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < localSize; ++j) {
            float4 r = localPos[j] - myPos;
            float distSqr = r.x * r.x + r.y * r.y + r.z * r.z;
            float invDist = rsqrt(distSqr + epsSqr);
            float invDistCube = invDist * invDist * invDist;
            float s = localPos[j].w * invDistCube;
            acc += s * r;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float4 oldVel = vel[gid];
    float4 newPos;
    newPos.xyz = myPos.xyz + oldVel.xyz * deltaTime + acc.xyz * 0.5f * deltaTime * deltaTime;
    newPos.w = myPos.w;
    float4 newVel;
    newVel.xyz = oldVel.xyz + acc.xyz * deltaTime;
    newVel.w = oldVel.w;
    newPosition[gid] = newPos;
    newVelocity[gid] = newVel;
}
