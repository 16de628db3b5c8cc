// Pairs of elements turned by an angle that depends on their place.
float ramp(float low, float high, int i0)
{
    const float y = (i0 / 2 - low) / max(0.001f, high - low);
    return 1.0f - min(1.0f, max(0.0f, y));
}
float2 angle_of(float theta, float freq_scale, float2 corr, int i0, float ext)
{
    float theta_interp = freq_scale * theta;
    float mixing = ramp(corr.s0, corr.s1, i0) * ext;
    theta = theta_interp * (1 - mixing) + theta * mixing;
    return (float2)(cos(theta), sin(theta));
}
kernel void rotary_embedding(global const float* src, global const int* positions, global float* dst, int dims, int heads,
                             float theta_base, float freq_scale, float ext)
{
    const int pair = get_global_id(0), head = get_global_id(1), token = get_global_id(2);
    if (2 * pair >= dims)
        return;
    const float theta = (float)positions[token] * pow(theta_base, -2.0f * pair / dims);
    const float2 cs = angle_of(theta, freq_scale, (float2)(1.0f, 5.0f), 2 * pair, ext);
    const int at = (token * heads + head) * dims + pair;
    const float x0 = src[at], x1 = src[at + dims / 2];
    dst[at] = x0 * cs.x - x1 * cs.y;
    dst[at + dims / 2] = x0 * cs.y + x1 * cs.x;
}
