// y = alpha x + y of complex numbers, as structures of two.
typedef struct cfloat_s { float real; float imag; } cfloat;
#define ComplexMultiplyAdd(c, a, b)                  \
    c.real = c.real + a.real * b.real - a.imag * b.imag; \
    c.imag = c.imag + a.real * b.imag + a.imag * b.real

cfloat conjugate(cfloat z)
{
    cfloat result = {z.real, -z.imag};
    return result;
}

__kernel void complex_axpy(const int n, const cfloat alpha, const __global cfloat* restrict x, __global cfloat* y,
                           const int conj)
{
    const int id = get_global_id(0);
    if (id < n) {
        cfloat value = conj ? conjugate(x[id]) : x[id];
        cfloat sum = y[id];
        ComplexMultiplyAdd(sum, alpha, value);
        y[id] = sum;
    }
}
