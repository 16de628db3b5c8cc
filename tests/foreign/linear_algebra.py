"""Products, decompositions and sparse matrices."""

import numpy as np

from .records import Foreign, Maker, double, filled, floats, integers, local, uint, zeros

COMPLEX = np.dtype([("real", "f4"), ("imag", "f4")])


def row_starts(rows: int, longest: int) -> Maker:
    """Where the rows of a sparse matrix begin: random lengths, some of them zero."""

    def make(random: np.random.Generator) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(random.integers(0, longest + 1, rows))]).astype("int32")

    return make


def diagonally_dominant(side: int, dtype: str = "float32") -> Maker:
    return lambda random: (random.uniform(-1, 1, (side, side)) + np.eye(side) * side).astype(dtype).reshape(-1)


KERNELS = (
    Foreign("saxpy_grid_stride", (256,), (64,),
            {"n": 500, "alpha": 2.5, "x": floats(1000), "incx": 2, "y": floats(1500), "incy": 3}),
    Foreign("gemm_double", (32, 16), (8, 8),
            {"a": floats(13 * 17, dtype="float64"), "b": floats(17 * 29, dtype="float64"),
             "c": floats(13 * 29, dtype="float64"), "alpha": double(1.5), "beta": double(0.75), "ni": 13, "nj": 29, "nk": 17},
            {"DATA_TYPE": "double"}),
    Foreign("matmul_local_args", (32, 16), (8, 8),
            {"C": zeros(512), "A": floats(16 * 24), "B": floats(24 * 32), "tileA": local(64), "tileB": local(64),
             "widthA": 24, "widthB": 32}, {"SIDE": 8}),
    Foreign("matmul_blocks_of_four", (8, 4), (4, 4),
            {"matA": floats(16 * 12), "matB": floats(12 * 32), "matC": zeros(16 * 32), "widthA": uint(12),
             "widthB": uint(32)}),
    Foreign("atax_two_kernels", (64,), (32,),
            {"A": floats(40 * 50), "y": zeros(50), "tmp": floats(40), "nx": 40, "ny": 50}, entry="atax_columns"),
    Foreign("bicg_direction", (64,), (32,), {"A": floats(30 * 45), "r": floats(30), "s": zeros(45), "nx": 30, "ny": 45}),
    Foreign("syrk_update", (16, 16), (8, 4),
            {"alpha": 0.5, "beta": 2.0, "a": floats(15 * 9), "c": floats(15 * 15), "m": 9, "n": 15}),
    Foreign("gram_schmidt_column", (32,), (32,),
            {"a": floats(20 * 33), "r": zeros(33 * 33), "q": zeros(20 * 33), "k": 2, "m": 20, "n": 33}),
    Foreign("lu_diagonal_block", (16,), (16,),
            {"m": diagonally_dominant(32), "shadow": local(256), "matrix_dim": 32, "offset": 16}),
    Foreign("gaussian_elimination", (144,), (16,),
            {"multipliers": floats(144), "a": floats(144), "b": floats(12), "size": 12, "t": 3}),
    Foreign("gemv_cached_vector", (64,), (32,),
            {"m": 100, "n": 70, "alpha": double(0.5), "beta": double(-1.0), "agm": floats(7200, dtype="float64"),
             "a_ld": 72, "xgm": floats(70, dtype="float64"), "ygm": floats(100, dtype="float64")}, {"PRECISION": 64}),
    Foreign("complex_axpy", (64,), (16,),
            {"n": 60, "alpha": np.array([(0.5, -1.25)], COMPLEX), "x": floats(120), "y": floats(120), "conj": 1}),
    Foreign("half_scale_add", (32,), (16,),
            {"a": floats(100, dtype="float16"), "b": floats(100, dtype="float16"), "sum": zeros(100, "float16"),
             "wide": zeros(100), "scale": 1.5, "n": 100}),
    Foreign("dot_two_stages", (256,), (64,), {"n": 1000, "x": floats(1000), "y": floats(1000), "output": zeros(4)},
            entry="dot_partial"),
    Foreign("index_of_largest", (64,), (64,), {"n": 500, "x": floats(500), "maxgm": zeros(1), "imaxgm": zeros(1, "uint32")}),
    Foreign("transpose_padded", (48, 32), (16, 16),
            {"odata": zeros(37 * 21), "idata": floats(37 * 21), "width": 37, "height": 21, "block": local(17 * 16)}),
    Foreign("transpose_vectors", (8, 8), (4, 4),
            {"output": zeros(1024), "input": floats(1024), "block": local(4 * 4 * 4 * 4)}),
    Foreign("spmv_row_per_item", (64,), (32,),
            {"val": floats(900), "vec": floats(70), "cols": integers(900, 0, 70), "rowDelimiters": row_starts(60, 15),
             "dim": 60, "out": zeros(60)}),
    Foreign("spmv_row_per_team", (512,), (64,),
            {"val": floats(1800), "vec": floats(70), "cols": integers(1800, 0, 70), "begin": row_starts(60, 30), "rows": 60,
             "out": zeros(60)}),
    Foreign("spmv_ellpack", (64,), (32,),
            {"val": floats(50 * 7, dtype="float64"), "vec": floats(50, dtype="float64"), "cols": integers(350, 0, 50),
             "lengths": integers(50, 0, 8), "dim": 50, "out": filled(50, 9.0, "float64")}),
)  # fmt: skip
