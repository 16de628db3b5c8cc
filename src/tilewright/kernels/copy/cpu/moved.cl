// Elements that are only moved, and vectors of them.
//
// UNIT           an unsigned integer that stands for an element, or for half of one of 16 bytes
// UNITS          units in an element: 1 or 2
// VW             elements of a vector
// VECTOR_UNITS   units of a vector: VW * UNITS

typedef JOIN(UNIT, VECTOR_UNITS) vec;
typedef vec loose_vec __attribute__((aligned(sizeof(UNIT))));
typedef struct { UNIT part[UNITS]; } Element;
