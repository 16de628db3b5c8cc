"""Tiles of transposes on CPUs: how many rows of the input a work-group takes."""

import pytest

from tilewright.core.problem import Transpose
from tilewright.kernels.copy import strided_copy_of
from tilewright.kernels.copy.cpu.kernels import NARROW_BYTES, CpuTranspose, nbytes, whole_lines


@pytest.mark.parametrize(
    ("rows", "columns", "dtype", "vector_bytes", "bytes_of_a_row"),
    [
        (2048, 2048, "float32", 32, 64),
        (1040, 1040, "float32", 32, 64),
        (1024, 1024, "float32", 32, 128),  # not larger than NARROW_BYTES
        (2048, 2048, "float32", 64, 128),  # vectors are whole lines
        (2049, 2049, "float32", 32, 128),  # whole lines cannot be stored
        (2049, 2064, "float32", 32, 128),
        (2064, 2049, "float32", 32, 64),
        (1000, 1000, "float64", 32, 64),
        (1000, 1000, "complex128", 32, 64),
        (4096, 4096, "uint8", 32, 64),
    ],
)
def test_a_line_of_the_output_is_enough_where_lines_of_the_input_are_read_in_parts(
    rows: int, columns: int, dtype: str, vector_bytes: int, bytes_of_a_row: int
) -> None:
    copy = strided_copy_of(Transpose(rows, columns, dtype)).output_by_rows
    config = CpuTranspose(vector_bytes, 2)
    itemsize = nbytes(copy) // (rows * columns)
    expected = bytes_of_a_row // itemsize if bytes_of_a_row == 64 else max(16, bytes_of_a_row // itemsize)
    assert config.tile(copy)[1] == expected
    if bytes_of_a_row == 64:
        assert whole_lines(copy)
        assert nbytes(copy) > NARROW_BYTES
    assert config.scalars(copy)["tile_columns"] == expected
