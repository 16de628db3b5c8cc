"""Whether a case must work, must be refused, or may do either; and in which types a product is read and written.

Made of what the library's pages promise, not of its code: the two must agree.
"""

from dataclasses import dataclass

import numpy as np

from tilewright.device import DeviceInfo
from tilewright.dtypes import DOUBLES, ELEMENT_TYPES, FLOAT8, FROM_ML_DTYPES

from .cases import NUMBERS, Case
from .types import dtype_of, is_object_like, plain_name

WORKS, REFUSED, EITHER = "works", "refused", "either"
SIZES = (1, 2, 4, 8, 16)  # bytes of elements that are moved
SHORT = ("float16", "bfloat16")
INTEGERS = {"int32": np.int32, "int8": np.int32}  # and what their numbers alpha and beta must fit


@dataclass(frozen=True)
class Expectation:
    """What must come of a case, and why; `read` and `written` name a product's types."""

    outcome: str
    reason: str = ""
    read: str = ""
    written: str = ""


def expect(case: Case, info: DeviceInfo) -> Expectation:
    """What the pages promise for the case on that device."""
    if not case.is_product:
        return _expect_move(case)
    if case.fault:
        return Expectation(REFUSED, case.fault)
    found = _types(case)
    if found.outcome == REFUSED:
        return found
    on_types = _addends(case, found) or _numbers(case, found) or _epilogue(case, found)
    if on_types:
        return on_types
    if {found.read, found.written} & set(DOUBLES) and not info.fp64:
        return Expectation(REFUSED, f"{info.name} has no double precision")
    unsure = _unsure(case, found, info)
    return Expectation(EITHER if unsure else found.outcome, unsure or found.reason, found.read, found.written)


def _expect_move(case: Case) -> Expectation:
    dtype = dtype_of(case.a.dtype)
    if case.fault:
        return Expectation(REFUSED, case.fault)
    if is_object_like(dtype):
        return Expectation(REFUSED, f"{dtype}: elements that point elsewhere")
    if dtype.itemsize not in SIZES:
        return Expectation(REFUSED, f"elements of {dtype.itemsize} bytes")
    if case.call == "matrix_transpose" and len(case.shape) < 2:
        return Expectation(REFUSED, "less than two dimensions")
    if case.out.where and 0 in case.out.given.lie.steps:
        return Expectation(EITHER, "out repeats its elements")
    if case.place == "device" and not dtype.isnative:
        return Expectation(EITHER, "PyOpenCL knows no swapped bytes")
    return Expectation(WORKS)


def _types(case: Case) -> Expectation:
    """The types of a product by the pages' table: one type, a wider one that is asked for, or NumPy's promotion."""
    a, b = (dtype_of(each.dtype) for each in (case.a, case.b))
    if any(
        is_object_like(each) or (each.kind in "mMVSU" and plain_name(each) not in FROM_ML_DTYPES) for each in (a, b)
    ):
        return Expectation(REFUSED, f"{a} @ {b}")
    names = {plain_name(a), plain_name(b)}
    asked = case.dtype
    if asked and asked not in ELEMENT_TYPES:
        return Expectation(REFUSED, f"dtype={asked}")
    if asked and not all(np.can_cast(each, dtype_of(asked), "same_kind") for each in (a, b)):
        return Expectation(REFUSED, f"{a} @ {b} as {asked}")
    if names == set(FLOAT8):
        return Expectation(WORKS, "", "float16", asked or "float32")
    if len(names) == 1:
        return _own_type(names.pop(), asked)
    try:
        target = asked or plain_name(np.result_type(a.newbyteorder("="), b.newbyteorder("=")))
    except TypeError:
        return Expectation(REFUSED, f"NumPy promotes {a} and {b} to nothing")
    return _own_type(target, target)


def _own_type(own: str, asked: str) -> Expectation:
    """Operands of the type `own`, and what is asked to come out; "" for what is usual."""
    wider = (
        {"float32", *SHORT} if own in FLOAT8 else {"float32"} if own in SHORT else {"int32"} if own == "int8" else set()
    )
    if own in ELEMENT_TYPES and (not asked or asked in wider):
        usual = "int32" if own == "int8" else "float32" if own in FLOAT8 else own
        return Expectation(WORKS, "", own, asked or usual)
    target = asked or own
    if target not in ELEMENT_TYPES or target == "int8" or target in FLOAT8:
        return Expectation(REFUSED, f"no kernel gives {target}")
    return Expectation(WORKS, "", target, target)


def _addends(case: Case, types: Expectation) -> Expectation | None:
    """A refusal where c, bias or out have types that do not go with the result's."""
    written = dtype_of(types.written)
    for name in ("c", "bias"):
        given = case.operands.get(name)
        if given is None or (name == "c" and NUMBERS[case.beta] == 0):
            continue
        if not np.can_cast(dtype_of(given.dtype), written, "same_kind"):
            return Expectation(REFUSED, f"{name} is {given.dtype}, the result {written}")
    out = dtype_of(case.out.given.dtype)
    if case.out.where == "is c":
        out = dtype_of(case.operands["c"].dtype)
    if case.out.where and not np.can_cast(written, out, "same_kind"):
        return Expectation(REFUSED, f"out is {out}, the result {written}")
    if (case.scale_a or case.scale_b) and not {plain_name(dtype_of(each.dtype)) for each in (case.a, case.b)} <= set(
        FLOAT8
    ):
        return Expectation(REFUSED, "scales are for 8-bit floats")
    return None


def _numbers(case: Case, types: Expectation) -> Expectation | None:
    """A refusal where alpha or beta is no number of the product's type."""
    for name, text in (("alpha", case.alpha), ("beta", case.beta)):
        value = NUMBERS[text]
        if text in ("None", "text", "list"):
            return Expectation(REFUSED, f"{name}={value!r} is no number")
        if isinstance(value, complex) and not types.written.startswith("complex"):
            return Expectation(REFUSED, f"{name}={value} of {types.written}")
        if text == "10**400":
            return Expectation(REFUSED, f"{name} of 401 digits")
        if types.read in INTEGERS and (value != value or value in (float("inf"),) or value != int(value)):
            return Expectation(REFUSED, f"{name}={value} of integers")
        if types.read in INTEGERS and not -(2**31) <= value < 2**31:
            return Expectation(REFUSED, f"{name}={value} of int32")
    return None


def _epilogue(case: Case, types: Expectation) -> Expectation | None:
    """A refusal where an activation has no meaning for the type."""
    if case.activation and types.written.startswith("complex"):
        return Expectation(REFUSED, f"{case.activation} of complex numbers")
    if case.activation not in ("", "relu") and types.read in INTEGERS:
        return Expectation(REFUSED, f"{case.activation} of integers")
    vector = (case.vector_a and case.trans_a != "N") or (case.vector_b and case.trans_b != "N")
    return Expectation(REFUSED, "a vector is not transposed") if vector else None


def _unsure(case: Case, types: Expectation, info: DeviceInfo) -> str:
    """Why a case may be refused, or not, though nothing is wrong with it; "" if it must work."""
    dtypes = [dtype_of(each.dtype) for each in case.operands.values()]
    if case.out.where and 0 in case.out.given.lie.steps:
        return "out repeats its elements"
    if case.activation and types.read in INTEGERS:
        return "relu of integers is for GPUs"
    if any(each.kind == "c" for each in dtypes) and types.written in FROM_ML_DTYPES:
        return "ml_dtypes lets complex numbers be cast"
    if types.read in FROM_ML_DTYPES and types.read in FLOAT8 and len({each.name for each in dtypes[:2]}) > 1:
        return "promotion to 8-bit floats"
    if case.place == "device" and any(not each.isnative for each in dtypes):
        return "PyOpenCL knows no swapped bytes"
    if case.place == "device" and _casts_rare_types(case, types):
        return "PyOpenCL converts no types of ml_dtypes"
    if case.place == "device" and any(plain_name(each) not in ELEMENT_TYPES for each in dtypes):
        return "PyOpenCL converts only some types"
    return ""


def _casts_rare_types(case: Case, types: Expectation) -> bool:
    """Whether something must be converted from or to a type of ml_dtypes."""
    needed = {"a": types.read, "b": types.read, "c": types.written, "bias": types.written}
    needed |= {"scale_a": "float32", "scale_b": "float32"}
    pairs = [{plain_name(dtype_of(each.dtype)), needed[name]} for name, each in case.operands.items()]
    if case.out.where:
        pairs.append({plain_name(dtype_of(case.out.given.dtype)), types.written})
    return any(len(pair) > 1 and pair & {*FROM_ML_DTYPES} for pair in pairs)
