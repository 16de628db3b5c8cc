// What becomes of a finished sum: C = activation(alpha * sum + beta * C + bias).
//
// ACTIVATION  none, relu, gelu (by the error function), gelu_tanh or silu
// BIAS        1 if there is a bias
// C_VEC       elements that are finished and stored together
// WITH_C      1 if beta is not 0, 0 if it is; undefined where only the launch knows. Where a work-item stores many vectors, code
//             that reads C doubles a compiler's work

// A NaN passes through every activation.
#define activation_none(x) (x)
#define activation_relu(x) ((x) < 0 ? 0 : (x))
#define activation_silu(x) ((x) / (1 + exp(-(x))))
#define activation_gelu(x) ((x) * erfc((x) * (COMPONENT)-0.7071067811865476) / 2)
#define activation_gelu_tanh(x) \
    ((x) / (1 + exp((x) * (COMPONENT)-1.5957691216057308 * (1 + (COMPONENT)0.044715 * (x) * (x)))))
#define ACTIVATE(x) JOIN(activation_, ACTIVATION)(x)

INLINE int is_zero(const ACC scalar)
{
#if PARTS == 1
    return scalar == 0;
#else
    return scalar.x == 0 && scalar.y == 0;
#endif
}

// value = factor * value for one element. A real factor scales both parts of a complex number, each by itself: 0 times an
// infinite part would be NaN.
INLINE void scale(COMPONENT* value, const ACC factor)
{
#if PARTS == 1
    value[0] = TIMES(value[0], factor);
#else
    const int is_complex = factor.y != 0;
    const COMPONENT real = value[0] * factor.x - (is_complex ? value[1] * factor.y : 0);
    value[1] = value[1] * factor.x + (is_complex ? value[0] * factor.y : 0);
    value[0] = real;
#endif
}

// Finishes C_VEC elements of a row of C that lie side by side at `c`. The bias of the first is at `bias`, the next one's
// `bias_column` elements further. If beta is 0, C is not read.
INLINE void finish_elements(RESULT* elements, COMPONENT* sum, const ACC alpha, const ACC beta, const __global RESULT* c,
                            const __global RESULT* bias, const long bias_column)
{
#ifdef WITH_C
    const int with_c = WITH_C;
#else
    const int with_c = !is_zero(beta);
#endif
    if (with_c)
        load_result(elements, c, C_VEC * PARTS);
#pragma unroll
    for (int i = 0; i < C_VEC; i++) {
        COMPONENT* value = sum + i * PARTS;
        scale(value, alpha);
        if (with_c) {
            COMPONENT old[PARTS];
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                old[part] = DECODE_RESULT(elements[i * PARTS + part]);
            scale(old, beta);
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                value[part] = ADD(value[part], old[part]);
        }
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
#if BIAS
            value[part] = ADD(value[part], DECODE_RESULT(bias[i * bias_column * PARTS + part]));
#endif
            elements[i * PARTS + part] = ENCODE_RESULT(ACTIVATE(value[part]));
        }
    }
}

// The same, and writes them by one store.
INLINE void finish(COMPONENT* sum, const ACC alpha, const ACC beta, __global RESULT* c, const __global RESULT* bias,
                   const long bias_column)
{
    RESULT elements[C_VEC * PARTS];
    finish_elements(elements, sum, alpha, beta, c, bias, bias_column);
    store_result(c, elements, C_VEC * PARTS);
}
