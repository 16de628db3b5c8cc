// FAULT: the tile of keys is overwritten while slower work-items still read it.
kernel void attention_missing_barrier(global const float* q, global const float* k, global float* scores, int n)
{
    local float keys[32];
    const int tid = get_local_id(0);
    float best = -INFINITY;
    for (int start = 0; start < n; start += 32) {
        keys[tid] = k[start + tid];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 32; j++)
            best = fmax(best, q[get_global_id(0)] * keys[j]);
    }
    scores[get_global_id(0)] = best;
}
