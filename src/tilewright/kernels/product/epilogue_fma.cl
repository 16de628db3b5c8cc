// What becomes of a finished sum where bits are promised: as epilogue.cl, with each rounding written down.
//
// C = activation(beta * C + (alpha * sum + bias)), where each of the two products is one fma with what it is added to. Of
// a * b + c a compiler may make one rounding or two, and drivers differ. What is not there, a bias or beta, leaves out its step:
// without a bias, 0 is added, which makes every zero positive, as sums of zeros may have either sign.
//
// ACTIVATION  none, relu, gelu (by the error function), gelu_tanh or silu
// BIAS        1 if there is a bias
// C_VEC       elements that are finished and stored together
// WITH_C      1 if beta is not 0, 0 if it is; undefined where only the launch knows

// A NaN passes through every activation. The last bits of exp and erfc are the driver's.
#define activation_none(x) (x)
#define activation_relu(x) ((x) < 0 ? 0 : (x))
#define activation_silu(x) ((x) / (1 + exp(-(x))))
#define activation_gelu(x) ((x) * erfc((x) * (COMPONENT)-0.7071067811865476) / 2)
#define activation_gelu_tanh(x) \
    ((x) / (1 + exp((x) * (COMPONENT)-1.5957691216057308 * fma((COMPONENT)0.044715 * (x), (x), (COMPONENT)1))))
#define ACTIVATE(x) JOIN(activation_, ACTIVATION)(x)

// Finishes C_VEC elements of a row of C that lie side by side at `c` and writes them by one store. The bias of the
// first is at `bias`, the next one's `bias_column` elements further. If beta is 0, C is not read.
INLINE void finish(COMPONENT* sum, const ACC alpha, const ACC beta, __global RESULT* c, const __global RESULT* bias,
                   const long bias_column)
{
    RESULT elements[C_VEC];
#ifdef WITH_C
    const int with_c = WITH_C;
#else
    const int with_c = beta != 0;
#endif
    if (with_c)
        load_result(elements, c, C_VEC);
#pragma unroll
    for (int i = 0; i < C_VEC; i++) {
        COMPONENT added = 0;
#if BIAS
        added = ADD(added, DECODE_RESULT(bias[i * bias_column]));
#endif
        COMPONENT value = fma(alpha, sum[i], added);
        if (with_c)
            value = fma(beta, (COMPONENT)DECODE_RESULT(elements[i]), value);
        elements[i] = ENCODE_RESULT(ACTIVATE(value));
    }
    store_result(c, elements, C_VEC);
}
