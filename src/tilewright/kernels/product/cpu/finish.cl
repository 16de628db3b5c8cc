// What happens to a tile of sums that cannot go straight to C: ragged edges, strides, other storage formats, epilogues.
//
// C = activation(alpha * sums + beta * C + bias). While blocks of K are still to come, the sums go to `partial` instead,
// which is C itself where C can hold them, else a scratch matrix of ACCs.
// A NaN passes through every one of them, and none of them subtracts nearly equal numbers.
#define ACTIVATE_none(x) (x)
#define ACTIVATE_relu(x) ((x) < 0 ? 0 : (x))
#define ACTIVATE_silu(x) ((x) / (1 + exp(-(x))))
#define ACTIVATE_gelu(x) ((x) * erfc((x) * (REAL)-0.70710678118654752440) / 2)
#define ACTIVATE_gelu_tanh(x) \
    ((x) / (1 + exp((x) * (REAL)-1.5957691216057308 * (1 + (REAL)0.044715 * (x) * (x)))))
#define ACTIVATE(x) JOIN(ACTIVATE_, ACTIVATION)(x)

#if INTEGERS_AS_FLOAT
#define TO_ACC(sums) JOIN(as_uint, VW)(JOIN(convert_int, VW)(sums))
#else
#define TO_ACC(sums) (sums)
#endif

typedef struct {
    __global OUT *c;       // the tile's corner in C
    long row, column;      // strides of C
    __global ACC *partial; // the same corner where sums wait between blocks of K
    long partial_row, partial_column;
    const __global OUT *bias; // of the tile's corner; one of its strides is 0
    long bias_row, bias_column;
    ACC alpha, beta;
    int first, last; // is this the first, the last block of K?
} Target;

#if COMPLEX
// A real factor scales each part by itself: 0 times an infinite part would be NaN.
static ACC scaled(ACC factor, ACC value)
{
    if (factor.y == 0)
        return factor.x * value;
    return (ACC)(factor.x * value.x - factor.y * value.y, factor.x * value.y + factor.y * value.x);
}

static __attribute__((noinline)) void finish(const REAL *tile, int rows, int columns, int back, const Target *to)
{
    const int carry = !to->first || to->beta.x != 0 || to->beta.y != 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            __global ACC *c = to->c + i * to->row + j * to->column;
            const int at = i * NR + j + back;
            ACC value = scaled(to->alpha, (ACC)(tile[at], tile[MR * NR + at]));
            if (carry)
                value += to->first ? scaled(to->beta, *c) : *c;
#if BIAS
            if (to->last)
                value += to->bias[i * to->bias_row + j * to->bias_column];
#endif
            *c = value;
        }
    }
}
#else
#if OUT_IS_ACC
typedef JOIN(ACC, 8) loose_acc8 __attribute__((aligned(sizeof(ACC))));
typedef JOIN(ACC, 4) loose_acc4 __attribute__((aligned(sizeof(ACC))));
typedef JOIN(ACC, 2) loose_acc2 __attribute__((aligned(sizeof(ACC))));

// Fewer lanes than a vector has, as vectors of 8, 4, 2 and 1: up to 15 elements in at most four moves.
#define MOVE_LANES(to_space, from_space)                                                                               \
    if (lanes & 8) {                                                                                                    \
        *(to_space loose_acc8 *)to = *(const from_space loose_acc8 *)from;                                              \
        to += 8, from += 8;                                                                                             \
    }                                                                                                                   \
    if (lanes & 4) {                                                                                                    \
        *(to_space loose_acc4 *)to = *(const from_space loose_acc4 *)from;                                              \
        to += 4, from += 4;                                                                                             \
    }                                                                                                                   \
    if (lanes & 2) {                                                                                                    \
        *(to_space loose_acc2 *)to = *(const from_space loose_acc2 *)from;                                              \
        to += 2, from += 2;                                                                                             \
    }                                                                                                                   \
    if (lanes & 1)                                                                                                      \
        *to = *from;

static inline void fetch_lanes(ACC *to, const __global ACC *from, int lanes)
{
    MOVE_LANES(__private, __global)
}

static inline void store_lanes(__global ACC *to, const ACC *from, int lanes)
{
    MOVE_LANES(__global, __private)
}
#endif

// Element `lane` of a vector is column j + lane of the tile. Vectors that stick out are read and written by the element.
static __attribute__((noinline)) void finish(const REAL *tile, int rows, int columns, int back, const Target *to)
{
    const int carry = !to->first || to->beta != 0;
    ACC element[VW] __attribute__((aligned(LINE_BYTES)));
    *(acc_vec *)element = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j += VW) {
            const int lanes = min(VW, columns - j);
            const int whole = lanes == VW && to->column == 1;
            __global OUT *c = to->c + i * to->row + j * to->column;
            __global ACC *partial = to->partial + i * to->partial_row + j * to->partial_column;
            acc_vec value = to->alpha * TO_ACC(LOOSE_AT(tile + i * NR + j + back));
            if (carry && whole) {
                value += to->first ? to->beta * LOAD_OUT(c) : *(const __global loose_acc_vec *)partial;
#if OUT_IS_ACC
            } else if (carry && to->column == 1) {
                fetch_lanes(element, to->first ? c : partial, lanes);
                value += to->first ? to->beta * *(acc_vec *)element : *(acc_vec *)element;
#endif
            } else if (carry) {
                for (int lane = 0; lane < lanes; lane++)
                    element[lane] = to->first ? to->beta * GET_OUT(c + lane * to->column)
                                              : partial[lane * to->partial_column];
                value += *(acc_vec *)element;
            }
            if (to->last) {
#if BIAS
                for (int lane = 0; lane < lanes; lane++)
                    element[lane] = GET_OUT(to->bias + i * to->bias_row + (j + lane) * to->bias_column);
                value += *(acc_vec *)element;
#endif
                value = ACTIVATE(value);
            }
            if (whole && to->last) {
                STORE_OUT(value, c);
            } else if (whole) {
                *(__global loose_acc_vec *)partial = value;
#if OUT_IS_ACC
            } else if (to->column == 1) {
                *(acc_vec *)element = value;
                store_lanes(c, element, lanes); // between blocks of K too: where C can hold sums, `partial` is C
#endif
            } else {
                *(acc_vec *)element = value;
                for (int lane = 0; lane < lanes; lane++) {
                    if (to->last)
                        PUT_OUT(element[lane], c + lane * to->column);
                    else
                        partial[lane * to->partial_column] = element[lane];
                }
            }
        }
    }
}
#endif
