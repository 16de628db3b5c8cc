// Distance field shading: vectors of three, normalise, cross, dot, clamp, as ray marchers use them.
float field(float3 p)
{
    return length(p) - 1.0f + 0.1f * sin(4.0f * p.x) * cos(3.0f * p.y);
}
__kernel void julia_shading(__global float4* image, int width, int height, float4 light)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float3 origin = (float3)(0.0f, 0.0f, -3.0f);
    float3 ray = normalize((float3)((x - width * 0.5f) / width, (y - height * 0.5f) / height, 1.0f));
    float t = 0.0f, d = 0.0f;
    for (int i = 0; i < 24; i++) {
        d = field(origin + ray * t);
        t += 0.8f * d;
    }
    float3 p = origin + ray * t;
    float2 e = (float2)(0.125f, 0.0f);
    float3 n = (float3)(field(p + e.xyy) - field(p - e.xyy), field(p + e.yxy) - field(p - e.yxy), field(p + e.yyx) - field(p - e.yyx));
    n = normalize(n);
    float shade = clamp(dot(n, normalize(light.xyz)), 0.0f, 1.0f);
    float3 side = cross(n, ray);
    float4 colour = (float4)(mix((float3)(0.1f, 0.2f, 0.3f), fabs(side), shade), 1.0f) * smoothstep(8.0f, 2.0f, t);
    image[y * width + x] = clamp(colour, 0.0f, 1.0f);
}
