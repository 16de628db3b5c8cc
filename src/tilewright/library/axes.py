"""`axes=` of NumPy's matmul: which dimensions of each operand and of the result hold the matrices."""

from collections.abc import Sequence
from typing import Any

from numpy.lib.array_utils import normalize_axis_tuple

from ..errors import InvalidInput, quoted

Axes = tuple[tuple[int, ...], ...]


def matrix_axes(axes: Any, a_sides: int, b_sides: int) -> Axes:
    """The dimensions of a, b and the result that hold matrices, counted from 0. A 1-D operand has one of them.

    `axes` is a list of three tuples, or of integers for one dimension. The last may be left out if the result has none.
    InvalidInput for anything else.
    """
    if a_sides == 0 or b_sides == 0:
        return (), (), ()  # `product_shape` refuses them, with both shapes
    a_core, b_core = min(a_sides, 2), min(b_sides, 2)
    result_core = a_core + b_core - 2
    result_sides = max(a_sides - a_core, b_sides - b_core) + result_core
    if not isinstance(axes, (list, tuple)) or not 2 <= len(axes) <= 3 or (len(axes) == 2 and result_core):
        raise InvalidInput(f"axes={quoted(axes)}: write a list of three tuples of dimensions, for a, b and the result")
    given = (*axes, ()) if len(axes) == 2 else tuple(axes)
    operands = (("a", a_sides, a_core), ("b", b_sides, b_core), ("the result", result_sides, result_core))
    return tuple(_checked(each, *operand) for each, operand in zip(given, operands, strict=True))


def _checked(axes: Any, name: str, sides: int, core: int) -> tuple[int, ...]:
    try:
        found = tuple(normalize_axis_tuple(axes, sides))
    except (TypeError, ValueError, OverflowError) as error:  # NumPy's AxisError is a ValueError
        raise InvalidInput(f"axes of {name}: {quoted(axes)}: {error}") from error
    if len(found) != core:
        raise InvalidInput(f"axes of {name}: {quoted(axes)} has {len(found)} dimensions; its matrices have {core}")
    return found


def matrices_last(array: Any, core: Sequence[int]) -> Any:
    """A view of the array with its matrix dimensions last."""
    return array.transpose((*(side for side in range(array.ndim) if side not in core), *core))


def order_at(sides: int, core: Sequence[int]) -> tuple[int, ...]:
    """The order of dimensions that brings the last ones to the positions `core`: the inverse of `matrices_last`."""
    order = (*(side for side in range(sides) if side not in core), *core)
    return tuple(order.index(side) for side in range(sides))
