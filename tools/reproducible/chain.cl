// The promise as a kernel: a work-item for each element, and every rounding written down. T is float or double.
//
// C = beta * C + (alpha * sum + bias): an element's sum is one chain of fused multiply-adds in ascending k, from 0 on.
__kernel void chain(const int N, const int K, const T alpha, const T beta, const __global T* A, const __global T* B,
                    const __global T* C, const __global T* bias, __global T* result)
{
    const int row = get_global_id(1), column = get_global_id(0);
    T sum = 0;
    for (int k = 0; k < K; k++)
        sum = fma(A[(long)row * K + k], B[(long)k * N + column], sum);
    T value = fma(alpha, sum, bias[column] + 0);  // + 0 makes a zero positive
    if (beta != 0)
        value = fma(beta, C[(long)row * N + column], value);
    result[(long)row * N + column] = value;
}
