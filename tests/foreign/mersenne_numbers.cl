// Random numbers of small Mersenne twisters, one a work-item, its state in a private array.
#define MT_NN 19
#define MT_MM 9
#define MT_WMASK 0xFFFFFFFFU
#define MT_UMASK 0xFFFFFFFEU
#define MT_LMASK 0x1U
typedef struct { uint matrix_a, mask_b, mask_c, seed; } mt_struct;
__kernel void mersenne_numbers(__global float* d_Rand, __global mt_struct* d_MT, int nPerRng)
{
    int globalID = get_global_id(0);
    int iState, iState1, iStateM, iOut;
    uint mti, mti1, mtiM, x;
    uint mt[MT_NN];
    mt_struct own = d_MT[globalID];
    mt[0] = own.seed;
    for (iState = 1; iState < MT_NN; iState++)
        mt[iState] = (1812433253U * (mt[iState - 1] ^ (mt[iState - 1] >> 30)) + iState) & MT_WMASK;
    iState = 0;
    mti1 = mt[0];
    for (iOut = 0; iOut < nPerRng; iOut++) {
        iState1 = iState + 1;
        iStateM = iState + MT_MM;
        if (iState1 >= MT_NN) iState1 -= MT_NN;
        if (iStateM >= MT_NN) iStateM -= MT_NN;
        mti = mti1;
        mti1 = mt[iState1];
        mtiM = mt[iStateM];
        x = (mti & MT_UMASK) | (mti1 & MT_LMASK);
        x = mtiM ^ (x >> 1) ^ ((x & 1) ? own.matrix_a : 0);
        mt[iState] = x;
        iState = iState1;
        x ^= (x >> 12);
        x ^= (x << 7) & own.mask_b;
        x ^= (x << 15) & own.mask_c;
        x ^= (x >> 18);
        d_Rand[globalID + iOut * get_global_size(0)] = ((float)x + 1.0f) / 4294967296.0f;
    }
}
