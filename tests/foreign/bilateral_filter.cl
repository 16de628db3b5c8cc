// Smoothing that keeps edges: weights of distance and of difference.
__kernel void bilateral_filter(__global const float4* in, __global float4* out, int w, int h, int radius, float variance)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 centre = in[y * w + x], sum = (float4)(0.0f);
    float weight = 0.0f;
    for (int j = max(y - radius, 0); j <= min(y + radius, h - 1); ++j) {
        for (int i = max(x - radius, 0); i <= min(x + radius, w - 1); ++i) {
            float4 value = in[j * w + i];
            float distance2 = (float)((i - x) * (i - x) + (j - y) * (j - y));
            float4 d = value - centre;
            float factor = exp(-distance2 / (2.0f * radius * radius)) * exp(-dot(d.xyz, d.xyz) / variance);
            sum += factor * value;
            weight += factor;
        }
    }
    out[y * w + x] = sum / weight;
}
