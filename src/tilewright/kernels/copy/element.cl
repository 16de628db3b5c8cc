// Elements that are only copied: unsigned integers of their size. A piece is a vector of `n` of them, or one element.

// UNPACK(n)(array, piece) and PACK(n)(array): between a piece and a private array of n elements
#define UNPACK(n) JOIN(UNPACK_, n)
#define UNPACK_1(array, piece) (array)[0] = (piece)
#define UNPACK_2(array, piece) vstore2(piece, 0, array)
#define UNPACK_4(array, piece) vstore4(piece, 0, array)
#define UNPACK_8(array, piece) vstore8(piece, 0, array)
#define UNPACK_16(array, piece) vstore16(piece, 0, array)
#define PACK(n) JOIN(PACK_, n)
#define PACK_1(array) (array)[0]
#define PACK_2(array) vload2(0, array)
#define PACK_4(array) vload4(0, array)
#define PACK_8(array) vload8(0, array)
#define PACK_16(array) vload16(0, array)
