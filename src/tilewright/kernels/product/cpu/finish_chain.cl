// What becomes of a tile of whole sums that cannot go straight to C: as finish.cl, with each rounding written down.
//
// C = activation(beta * C + (alpha * sum + bias)), where each of the two products is one fma with what it is added to. Of
// a * b + c a compiler may make one rounding or two, and drivers differ. What is not there, a bias or beta, leaves out its step:
// without a bias, 0 is added, which makes every zero positive, as sums of zeros may have either sign.
#include "finish.cl"

// Element `lane` of a vector is column j + lane of the tile. Vectors that stick out are read and written by the element.
static __attribute__((noinline)) void finish_chain(const REAL *tile, int rows, int columns, int back, const Target *to)
{
    ACC element[VW] __attribute__((aligned(LINE_BYTES)));
    *(acc_vec *)element = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j += VW) {
            const int lanes = min(VW, columns - j);
            const int whole = lanes == VW && to->column == 1;
            __global OUT *c = to->c + i * to->row + j * to->column;
            acc_vec added = 0;
#if BIAS
            for (int lane = 0; lane < lanes; lane++)
                element[lane] = GET_OUT(to->bias + i * to->bias_row + (j + lane) * to->bias_column);
            added += *(acc_vec *)element;
#endif
            acc_vec value = fma((acc_vec)(to->alpha), LOOSE_AT(tile + i * NR + j + back), added);
            if (to->beta != 0) {
                if (whole)
                    *(acc_vec *)element = LOAD_OUT(c);
                else
                    for (int lane = 0; lane < lanes; lane++)
                        element[lane] = GET_OUT(c + lane * to->column);
                value = fma((acc_vec)(to->beta), *(acc_vec *)element, value);
            }
            value = ACTIVATE(value);
            if (whole) {
                STORE_OUT(value, c);
#if OUT_IS_ACC
            } else if (to->column == 1) {
                *(acc_vec *)element = value;
                store_lanes(c, element, lanes);
#endif
            } else {
                *(acc_vec *)element = value;
                for (int lane = 0; lane < lanes; lane++)
                    PUT_OUT(element[lane], c + lane * to->column);
            }
        }
    }
}
