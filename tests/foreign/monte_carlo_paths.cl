// Random walks of prices: a generator of shifts, normal numbers by sine and cosine.
uint4 next_word(uint4 state)
{
    uint t = state.x ^ (state.x << 11);
    return (uint4)(state.yzw, state.w ^ (state.w >> 19) ^ t ^ (t >> 8));
}
float2 normal_pair(uint a, uint b)
{
    float u = (a >> 8) * (1.0f / 16777216.0f) + 1e-7f;
    float v = (b >> 8) * (1.0f / 16777216.0f);
    float angle, radius = sqrt(-2.0f * log(u));
    float sine = sincos(6.2831853f * v, &angle);
    return (float2)(radius * angle, radius * sine);
}
__kernel void monte_carlo_paths(__global float2* sums, const uint seed, float drift, float spread, int steps)
{
    uint4 state = (uint4)(get_global_id(0) + seed, 362436069u, 521288629u, 88675123u);
    float2 walk = (float2)(0.0f);
    for (int i = 0; i < steps; i++) {
        state = next_word(state);
        uint a = state.w;
        state = next_word(state);
        walk += drift + spread * normal_pair(a, state.w);
    }
    sums[get_global_id(0)] = exp(walk);
}
