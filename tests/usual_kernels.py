"""Usual kernels of users' own, by what they compute."""

SUM = "barrier(CLK_LOCAL_MEM_FENCE); for (uint s = 32; s; s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }"
# Bodies of a kernel with buffers o, x (float), n (int), u (uint), d (double), h (half), and l = get_local_id(0).
BODIES = {
    "softmax": f"local float t[64]; float m = -INFINITY; m = fmax(m, x[l]); t[l] = native_exp(x[l] - m); {SUM} "
    "o[l] = native_exp(x[l] - m) * native_recip(t[0]) + half_exp(x[l]) + half_divide(1.0f, t[0]);",
    "layer norm": f"local float t[64]; float4 v = vload4(l, x), q = (float4)(0.0f); q = mad(v, v, q);"
    f" t[l] = q.x + dot(v, v); {SUM} "
    "vstore4(fma(v - t[0], (float4)(rsqrt(t[1])), (float4)2.0f), l, o);",
    "gelu": "float v = x[l];"
    " o[l] = 0.5f * v * (1 + erf(v * M_SQRT1_2_F)) + v / (1.0f + native_exp(-v)) + tanh(M_2_PI_F * v) + M_PI_F;",
    "histogram": "local uint t[64]; t[l] = 0; barrier(CLK_LOCAL_MEM_FENCE); atomic_inc(&t[u[l] & 63]);"
    " atom_dec(t + 1); atomic_add(&u[l], t[l]);"
    "atomic_max(n, (int)l); atomic_min((volatile global uint*)u, 3u); atomic_xchg(n, 4); atomic_cmpxchg(n, 1, 2);"
    " atomic_sub(u, 1u); atomic_or(n, 1);",
    "convolution": "int at = clamp((int)l - 2, 0, 63); o[l] = fma(x[mad24(at, 2, 1)], mix(x[0], x[1], 0.5f),"
    " x[mul24(at, 3)]);",
    "fp16": "vstore_half(vload_half(l, h), l, h); vstore_half4(vload_half4(l, h) * 2.0f, l, h);"
    " vstorea_half2(vloada_half2(l, h), l, h);",
    "picture": "float2 z = convert_float2((int2)(l, 3)) - 0.5f; z = (float2)(z.x * z.x, z.y) + z;"
    "uchar4 p = convert_uchar4_sat_rte((float4)(z, 0, 1) * 255.0f);"
    " n[l] = p.x + convert_int_rtn(x[l]) + convert_uint_sat(x[l]);",
    "bits": "u[l] = popcount(u[l]) + rotate(u[l], 3u) + mul_hi(u[l], 77u) + abs_diff(n[l],"
    " 3) + clz(u[l]) + abs(n[l]) + hadd(u[l], 1u);",
    "vectors": "int4 v = (int4)(n[0], (int2)(1, 2), 3); v = max(-v % 7 | ~v ^ 1, 3) << 1; n[l] = v.x + min(v, v).w;"
    "float4 w = fmin(clamp((float4)x[0], 0.0f, 1.0f), (float4)(1, 2, 3, 4)); o[l] = length(w) + select(w, sqrt(w), v).x;",
    "conditions": "o[l] = isnan(x[l]) ? NAN : select(x[l], MAXFLOAT, isgreater(x[l], HUGE_VALF)) + step(0.0f,"
    " sign(x[l])) + degrees(x[l]);",
    "doubles": "d[l] = exp(d[l]) * M_PI + DBL_EPSILON + (double)INT_MAX + fmax(d[0], 0.0) + smoothstep(0.0, 1.0, d[1]);",
    "fences": "mem_fence(CLK_LOCAL_MEM_FENCE); barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); o[l] = 1;",
    "elements": "float4 v = mix(vload4(l, x), (float4)(0), 0.5f); __const float s = v.s0 + v.s3; o[l] = s;",
    "own types": "typedef struct { float a, b; } pair; pair p = (pair){1, 2}; o[l] = p.a + sizeof(float4);",
}  # fmt: skip


def around(body: str) -> str:
    parameters = (
        "global float* o, global const float* x, global int* n, global uint* u, global double* d, global half* h"
    )
    return f"kernel void own({parameters}) {{ const uint l = get_local_id(0); {body} }}\n"
