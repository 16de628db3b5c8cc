"""The matrices of a problem as a kernel's buffers hold them: which element lies where in memory.

Every input element's value is its own number, so that copies can be followed: what lies in a transposed or padded copy, in
local memory or in a register says which element it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...core.operands import Operand
from ...core.problem import Problem, inputs_of, output_of
from ...core.types import element_type, numpy_dtype

Places = npt.NDArray[np.int64]
DIGIT = 16384  # numbers of one run: all of them are exact in fp16's bits, which fp32 keeps
NOWHERE = -1


@dataclass(frozen=True)
class Matrix:
    """A matrix, as the problem speaks of it, in one buffer. `places` are row and column of each element in memory, -1 for
    unused ones. `title` is what drawings call it."""

    name: str
    title: str
    rows: int
    columns: int
    itemsize: int
    places: Places

    @property
    def along_rows(self) -> bool:
        """Whether neighbours in memory are neighbours in a row."""
        both = self.places[:2]
        return bool(len(both) < 2 or both[0, 0] == both[1, 0])

    def elements(self, offsets: Places, size: int) -> Places:
        """Row and column of the elements in `size` bytes at each offset, one after the other; of those that there are."""
        step = np.arange(0, size, self.itemsize)
        numbers = (np.asarray(offsets)[:, None] + step).ravel() // self.itemsize
        found = self.places[numbers[(numbers >= 0) & (numbers < len(self.places))]]
        used: Places = found[found[:, 0] != NOWHERE]
        return used


def runs_needed(problem: Problem) -> int:
    """How often a kernel has to run, so that the numbers of all elements can be told apart."""
    most = max(each.elements for each in inputs_of(problem))
    return 1 if most <= DIGIT else 2


def tagged_arrays(problem: Problem, run: int) -> dict[str, np.ndarray]:
    """The inputs, each element with its own number: its remainder by DIGIT in run 0, the quotient in run 1, plus one. The
    second input's numbers are negative."""
    return {operand.name: _tagged(operand, run, index > 0) for index, operand in enumerate(inputs_of(problem))}


def _tagged(operand: Operand, run: int, negative: bool) -> np.ndarray:
    numbers = np.arange(operand.elements, dtype=np.int64)
    numbers = (numbers % DIGIT if run == 0 else numbers // DIGIT) + 1
    if operand.dtype == "float16":
        values = (numbers | (0x8000 if negative else 0)).astype(np.uint16).view(np.float16)
    else:
        values = (-numbers if negative else numbers).astype(numpy_dtype(operand.dtype))
    return values.reshape(operand.shape)


def numbers_of(data: npt.NDArray[np.uint8], dtype: str, element: int) -> Places:
    """The signed numbers in some bytes; 0 where there is none. `element` is the bytes of one: fp16 may have become fp32."""
    kind = element_type(dtype)
    if dtype == "float16":
        bits = data.view(np.float32).astype(np.float16).view(np.uint16) if element == 4 else data.view(np.uint16)
        magnitude = (bits & 0x7FFF).astype(np.int64)
        return np.where(bits & 0x8000, -magnitude, magnitude)
    whole = data[: data.size // kind.itemsize * kind.itemsize].view(numpy_dtype(dtype))
    usable = np.nan_to_num(whole.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    return np.where(np.abs(usable) < 2**31, usable, 0).astype(np.int64)


def origins(found: list[Places], problem: Problem) -> tuple[npt.NDArray[np.int64], Places]:
    """For the numbers of each run: which input every element comes from (-1: none), and its row and column there."""
    signs = np.sign(found[0])
    index = np.abs(found[0]) - 1
    if len(found) > 1:
        index = index + (np.abs(found[1]) - 1) * DIGIT
    inputs = inputs_of(problem)
    which = np.where(signs > 0, 0, np.where(signs < 0, 1, NOWHERE))
    which = np.where(which < len(inputs), which, NOWHERE)
    places = np.full((len(index), 2), NOWHERE, np.int64)
    for number, operand in enumerate(inputs):
        mine = (which == number) & (index >= 0) & (index < operand.elements)
        which = np.where((which == number) & ~mine, NOWHERE, which)
        places[mine] = np.stack(np.divmod(index[mine], operand.shape[-1]), axis=1)
    return which, places


def matrix_of(operand: Operand) -> Matrix:
    """An operand in its own buffer."""
    numbers = np.arange(operand.elements, dtype=np.int64).reshape(operand.shape)
    flat = operand.flatten(numbers)
    rows, columns = operand.shape
    places = np.stack(np.divmod(flat, columns), axis=1)
    return Matrix(operand.name, operand.name, rows, columns, element_type(operand.dtype).itemsize, places)


def matrices_of(problem: Problem) -> dict[str, Matrix]:
    """The problem's matrices, by the names of their buffers."""
    return {each.name: matrix_of(each) for each in (*inputs_of(problem), output_of(problem))}


def copied_matrix(buffer: str, found: list[np.ndarray], problem: Problem, known: Mapping[str, Matrix]) -> Matrix | None:
    """The matrix of which a scratch buffer holds a copy, by the numbers in it; None if it holds none."""
    itemsize = found[0].dtype.itemsize
    numbers = [numbers_of(each.view(np.uint8), problem.dtype, itemsize) for each in found]
    which, places = origins(numbers, problem)
    if not (which != NOWHERE).any():
        return None
    source = known[inputs_of(problem)[int(which.max())].name]
    places = np.where((which == which.max())[:, None], places, NOWHERE)
    return Matrix(source.name, f"{source.title}, in {buffer}", source.rows, source.columns, itemsize, places)
