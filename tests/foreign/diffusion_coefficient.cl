// Speckle-reducing diffusion: four differences and a coefficient of each pixel, by index vectors for the borders.
__kernel void diffusion_coefficient(const float lambda, const int rows, const int cols, __global const int* iN,
                                    __global const int* iS, __global const int* jE, __global const int* jW,
                                    __global float* dN, __global float* dS, __global float* dE, __global float* dW,
                                    const float q0sqr, __global float* c, __global const float* image)
{
    int ei = get_global_id(0);
    if (ei < rows * cols) {
        int row = (ei + 1) % rows - 1;
        int col = (ei + 1) / rows + 1 - 1;
        if ((ei + 1) % rows == 0) {
            row = rows - 1;
            col = col - 1;
        }
        float Jc = image[ei];
        float n = image[iN[row] + rows * col] - Jc, s = image[iS[row] + rows * col] - Jc;
        float w = image[row + rows * jW[col]] - Jc, e = image[row + rows * jE[col]] - Jc;
        float G2 = (n * n + s * s + w * w + e * e) / (Jc * Jc);
        float L = (n + s + w + e) / Jc;
        float num = (0.5f * G2) - ((1.0f / 16.0f) * (L * L));
        float den = 1 + (0.25f * L);
        float qsqr = num / (den * den);
        den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
        float k = 1.0f / (1.0f + den);
        c[ei] = clamp(k, 0.0f, 1.0f) * lambda;
        dN[ei] = n; dS[ei] = s; dW[ei] = w; dE[ei] = e;
    }
}
