// Activation functions element by element; the host chooses one.
#define GELU_COEF_A 0.044715f
#define SQRT_2_OVER_PI 0.79788456080286535587989211986876f
kernel void activations(global const float4* x, global float4* y, int which)
{
    float4 v = x[get_global_id(0)];
    float4 result;
    switch (which) {
    case 0:
        result = 0.5f * v * (1.0f + tanh(SQRT_2_OVER_PI * v * (1.0f + GELU_COEF_A * v * v)));
        break;
    case 1:
        result = v / (1.0f + exp(-v));
        break;
    case 2:
        result = fmax(v, 0.0f);
        break;
    default:
        result = 0.5f * v * (1.0f + erf(v * M_SQRT1_2_F));
    }
    y[get_global_id(0)] = result;
}
