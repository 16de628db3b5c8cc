// Attention of one query row a work-item; keys and values in tiles of local memory, running maximum and sum.
#define HEAD 16
#define TILE 16
#define HEAD_VEC (HEAD / 4)
kernel void flash_attention(global const float4* q, global const float4* k, global const float4* v, global float4* o, float scale,
                            int n_kv, int causal)
{
    local float4 l_k[TILE][HEAD_VEC];
    local float4 l_v[TILE][HEAD_VEC];
    const int tid = get_local_id(0), row = get_global_id(0);
    float4 q_priv[HEAD_VEC], o_acc[HEAD_VEC];
#pragma unroll
    for (int i = 0; i < HEAD_VEC; ++i) {
        q_priv[i] = q[row * HEAD_VEC + i];
        o_acc[i] = (float4)(0.0f);
    }
    float m_i = -INFINITY, l_i = 0.0f;
    for (int start = 0; start < n_kv; start += TILE) {
        for (int i = tid; i < TILE * HEAD_VEC; i += get_local_size(0)) {
            l_k[i / HEAD_VEC][i % HEAD_VEC] = k[(start + i / HEAD_VEC) * HEAD_VEC + i % HEAD_VEC];
            l_v[i / HEAD_VEC][i % HEAD_VEC] = v[(start + i / HEAD_VEC) * HEAD_VEC + i % HEAD_VEC];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < TILE && start + j < n_kv; ++j) {
            if (causal && start + j > row)
                continue;
            float4 dot_acc = (float4)(0.0f);
            for (int i = 0; i < HEAD_VEC; ++i)
                dot_acc = mad(q_priv[i], l_k[j][i], dot_acc);
            float s = (dot_acc.s0 + dot_acc.s1 + dot_acc.s2 + dot_acc.s3) * scale;
            float m_new = max(m_i, s);
            float p = exp(s - m_new), scale_prev = exp(m_i - m_new);
            for (int i = 0; i < HEAD_VEC; ++i)
                o_acc[i] = o_acc[i] * scale_prev + p * l_v[j][i];
            l_i = l_i * scale_prev + p;
            m_i = m_new;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < HEAD_VEC; ++i)
        o[row * HEAD_VEC + i] = o_acc[i] / l_i;
}
