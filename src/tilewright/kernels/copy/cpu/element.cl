// Elements that are only copied, and vectors of them.
//
// SCALAR          an unsigned integer of the element's size, or of half the size for elements of 16 bytes
// SCALARS         scalars of an element: 1 or 2
// VW              elements of a vector
// VECTOR_SCALARS  scalars of a vector: VW * SCALARS

typedef JOIN(SCALAR, VECTOR_SCALARS) vec;
typedef vec loose_vec __attribute__((aligned(sizeof(SCALAR))));
typedef struct { SCALAR part[SCALARS]; } Element;
