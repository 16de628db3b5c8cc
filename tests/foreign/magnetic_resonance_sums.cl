// Sums of sines and cosines over a table of structures in constant memory.
#define PIx2 6.2831853071795864769252867665590058f
struct kValues { float Kx, Ky, Kz, PhiMag; };
__kernel void magnetic_resonance_sums(int numK, int kGlobalIndex, __global float* x, __global float* y, __global float* z,
                                      __global float* Qr, __global float* Qi, __constant struct kValues* ck)
{
    int xIndex = get_global_id(0);
    float sX = x[xIndex], sY = y[xIndex], sZ = z[xIndex], sQr = Qr[xIndex], sQi = Qi[xIndex];
    int kIndex = 0;
    for (; (kIndex < numK) && (kGlobalIndex < numK); kIndex++, kGlobalIndex++) {
        float expArg = PIx2 * (ck[kIndex].Kx * sX + ck[kIndex].Ky * sY + ck[kIndex].Kz * sZ);
        sQr += ck[kIndex].PhiMag * cos(expArg);
        sQi += ck[kIndex].PhiMag * sin(expArg);
    }
    Qr[xIndex] = sQr;
    Qi[xIndex] = sQi;
}
