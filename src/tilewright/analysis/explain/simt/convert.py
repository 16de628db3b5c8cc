"""Conversions between the types of OpenCL C, on values of all lanes at once (6.2 of the specification)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..clc.types import BOOL, Pointer, Scalar, Type, Vector
from .compiled_code import Code, Value

Change = Callable[[Value], Value]


def scalar_change(source: Scalar, target: Scalar, boolean: bool) -> Change | None:
    """How a value of `source` becomes one of `target`; None if it stays as it is."""
    dtype = target.dtype
    if target is BOOL or target.name == "bool":
        return (lambda value: value.astype(dtype)) if boolean else (lambda value: (value != 0).astype(dtype))
    if not boolean and source.name == target.name:
        return None
    if source.is_float and not target.is_float and target.size < 8 and not (target.is_signed and target.size == 4):
        wide = np.dtype(np.int64)
        return lambda value: value.astype(wide).astype(dtype)
    if source.size == target.size == 8 and not source.is_float and not target.is_float:
        return lambda value: value.view(dtype)
    return lambda value: value.astype(dtype)


def widen(value: Value, width: int) -> Value:
    """A scalar in all elements of a vector."""
    value = np.asarray(value)
    return np.broadcast_to(value, (width, value.size))


def change(code: Code, target: Type) -> Code:
    """`code` with its value converted to `target`, as assignments and arguments do."""
    source = code.type
    if isinstance(target, Vector):
        if isinstance(source, Scalar):
            inner = change(code, target.element)
            width = target.width
            return _mapped(inner, target, lambda value: widen(value, width))
        return code
    if isinstance(source, Scalar) and isinstance(target, Scalar):
        how = scalar_change(source, target, code.boolean)
        return Code(target, code.run, False, code.constant) if how is None else _mapped(code, target, how)
    if isinstance(target, Pointer) and isinstance(source, Scalar):
        return _mapped(code, target, lambda value: np.asarray(value).astype(np.int64)[()])
    if isinstance(source, Pointer) and isinstance(target, Scalar):
        if target.name == "bool":
            return _mapped(code, target, lambda value: np.asarray(value != 0).astype(target.dtype)[()])
        return _mapped(code, target, lambda value: np.asarray(value).astype(target.dtype)[()])
    return Code(target, code.run, code.boolean, code.constant)


def elementwise(code: Code, element: Scalar) -> Code:
    """A scalar or vector with its elements converted, keeping its width."""
    source = code.type
    if isinstance(source, Scalar):
        return change(code, element)
    assert isinstance(source, Vector)
    how = scalar_change(source.element, element, code.boolean)
    target = Vector(element, source.width)
    return Code(target, code.run, False, code.constant) if how is None else _mapped(code, target, how)


def truth(code: Code) -> Code:
    """`code` as NumPy booleans."""
    if code.boolean:
        return code
    return Code(code.type, _compose(code, lambda value: value != 0), True, None)


def _mapped(code: Code, target: Type, how: Change) -> Code:
    constant = None if code.constant is None else how(code.constant)
    if constant is not None:
        return Code(target, lambda frame, mask: constant, False, constant)
    return Code(target, _compose(code, how), False, None)


def _compose(code: Code, how: Change) -> Callable[[Any, Any], Value]:
    """`how` after `code`, not done again while the value is the very object that it was."""
    run = code.run
    before: Value = None
    result: Value = None

    def composed(frame: Any, mask: Any) -> Value:
        nonlocal before, result
        value = run(frame, mask)
        if value is not before:
            result = how(value)
            before = value
        return result

    return composed
