// C = alpha A transpose(A) + beta C
__kernel void syrk_update(float alpha, float beta, __global float* a, __global float* c, int m, int n)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n) {
        c[i * n + j] *= beta;
        for (int k = 0; k < m; k++)
            c[i * n + j] += alpha * a[i * m + k] * a[j * m + k];
    }
}
