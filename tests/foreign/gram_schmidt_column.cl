// One column is normalised, and taken out of those behind it.
__kernel void gram_schmidt_column(__global float* a, __global float* r, __global float* q, int k, int m, int n)
{
    int j = get_global_id(0) + k + 1;
    float norm = 0.0f;
    for (int i = 0; i < m; i++)
        norm += a[i * n + k] * a[i * n + k];
    norm = sqrt(norm);
    if (j == k + 1)
        for (int i = 0; i < m; i++)
            q[i * n + k] = a[i * n + k] / norm;
    if (j < n) {
        float share = 0.0f;
        for (int i = 0; i < m; i++)
            share += a[i * n + k] / norm * a[i * n + j];
        r[k * n + j] = share;
        for (int i = 0; i < m; i++)
            a[i * n + j] -= a[i * n + k] / norm * share;
    }
}
