// Elements that are only moved, and vectors of them.
//
// SCALAR           an unsigned integer that stands for an element, or for half of one of 16 bytes
// SCALARS          units in an element: 1 or 2
// VW             elements of a vector
// VECTOR_SCALARS   units of a vector: VW * SCALARS

typedef JOIN(SCALAR, VECTOR_SCALARS) vec;
typedef vec loose_vec __attribute__((aligned(sizeof(SCALAR))));
typedef struct { SCALAR part[SCALARS]; } Element;
