"""Products of a matrix with its own transpose, which NumPy gives to BLAS's syrk: found by where the operands lie."""

from typing import Any, Protocol

from ..core.types import FLOAT8, element_type


class Places(Protocol):
    """What a memory knows of where arrays lie."""

    def one_place(self, one: Any, other: Any) -> bool: ...


def is_symmetric(memory: Places, a: Any, b: Any, dtype: str, conjugate: tuple[bool, bool]) -> bool:
    """Whether `b` is `a` with its last two dimensions swapped, in the same memory, so that the product equals its transpose.

    It does not if one operand alone is conjugated. Stacks count if each matrix is multiplied with its own transpose.
    """
    shape = a.shape
    if len(shape) < 2 or len(shape) != len(b.shape) or shape[-2] != b.shape[-1] or shape[-2] < 2:
        return False
    rows, columns = a.strides[-2:]
    if b.strides[-2:] != (columns, rows) or b.shape[-2] != shape[-1]:
        return False
    if shape[:-2] != b.shape[:-2] or a.strides[:-2] != b.strides[:-2]:
        return False
    if dtype in FLOAT8 or (conjugate[0] != conjugate[1] and element_type(dtype).parts == 2):
        return False
    return memory.one_place(a, b)


def swapped(array: Any) -> Any:
    """A view of an array with its last two dimensions swapped."""
    sides = len(array.shape)
    return array.transpose((*range(sides - 2), sides - 1, sides - 2))
