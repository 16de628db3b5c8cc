"""Decides whether a case must work, must be refused, or may do either, and the types of a product.

Made of what the library's pages promise, not of its code: the two must agree.
"""

from dataclasses import dataclass

import numpy as np

from tilewright.core.device import DeviceInfo
from tilewright.core.types import DOUBLES, ELEMENT_TYPES, FLOAT8, FROM_ML_DTYPES

from . import limits
from .cases import NUMBERS, Case
from .types import MULTIPLIED, dtype_of, is_object_like, plain_name

WORKS, REFUSED, EITHER = "works", "refused", "either"
SIZES = (1, 2, 4, 8, 16)  # bytes of elements that are moved
SHORT = ("float16", "bfloat16")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")
WIDER = {
    **dict.fromkeys(("int8", "uint8", "int16", "uint16", "bool"), ("int32",)), **dict.fromkeys(SHORT, ("float32",)),
    **dict.fromkeys(FLOAT8, ("float32", *SHORT)),
}  # fmt: skip
USUAL = {"int8": "int32", **dict.fromkeys(FLOAT8, "float32")}  # what comes out unasked, where that is another type
CONVERTED = {"float32", "float64", "complex64", "complex128", *INTEGERS}  # on devices
REPRODUCIBLE = ("float32", "float64", "float16", "bfloat16", *INTEGERS)


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
        return _expect_move(case, info)
    if case.fault:
        return Expectation(REFUSED, case.fault)
    found = _types(case)
    if found.outcome == REFUSED:
        return found
    on_types = _addends(case, found) or _numbers(case, found) or _epilogue(case, found) or _on_device(case, found)
    on_types = on_types or _precision(case, found) or _in_tiles(case, found)
    if on_types:
        return on_types
    if {found.read, found.written} & set(DOUBLES) and not info.fp64:
        return Expectation(REFUSED, f"{info.name} has no double precision")
    unsure = _unsure(case, found) or (limits.unsure(case, info, *_sizes(found)) if case.in_tiles else "")
    return Expectation(EITHER if unsure else found.outcome, unsure or found.reason, found.read, found.written)


def _expect_move(case: Case, info: DeviceInfo) -> Expectation:
    dtype = dtype_of(case.a.dtype)
    if case.fault:
        return Expectation(REFUSED, case.fault)
    if is_object_like(dtype):
        return Expectation(REFUSED, f"{dtype}: elements that point elsewhere")
    if dtype.itemsize not in SIZES:
        return Expectation(REFUSED, f"elements of {dtype.itemsize} bytes")
    if case.call == "matrix_transpose" and len(case.shape) < 2:
        return Expectation(REFUSED, "less than two dimensions")
    refusal = limits.refusal(case, dtype.itemsize, dtype.itemsize) if case.in_tiles else ""
    if refusal:
        return Expectation(REFUSED, refusal)
    if case.out.where and 0 in case.out.given.lie.steps:
        return Expectation(EITHER, "out repeats its elements")
    unsure = limits.unsure(case, info, dtype.itemsize, dtype.itemsize) if case.in_tiles else ""
    return Expectation(EITHER if unsure else WORKS, unsure)


def usual_result(case: Case) -> str:
    """The usual type of a product's result, from which other types are drawn."""
    if case.dtype:
        return case.dtype
    own = plain_name(dtype_of(case.a.dtype))
    return USUAL.get(own, own if own in MULTIPLIED else "float32")


def _precision(case: Case, types: Expectation) -> Expectation | None:
    """A refusal of reproducible products where the pages refuse them."""
    if case.precision != "reproducible":
        return None
    scaled = case.scale_a is not None or case.scale_b is not None
    if types.read in REPRODUCIBLE and not scaled:
        return None
    return Expectation(REFUSED, f"reproducible products of {types.read}" + (", scaled" if scaled else ""))


def _sizes(types: Expectation) -> tuple[int, int]:
    return dtype_of(types.read).itemsize, dtype_of(types.written).itemsize


def _in_tiles(case: Case, types: Expectation) -> Expectation | None:
    """A refusal of what cannot be computed in tiles."""
    refusal = limits.refusal(case, *_sizes(types)) if case.in_tiles else ""
    return Expectation(REFUSED, refusal) if refusal else None


def castable(source: np.dtype, target: np.dtype) -> bool:
    """NumPy's rule "same_kind", with the floats of ml_dtypes among the floats."""
    if {plain_name(source), plain_name(target)}.isdisjoint(FROM_ML_DTYPES):
        return bool(np.can_cast(source, target, "same_kind"))
    if plain_name(target) in FROM_ML_DTYPES:
        return source.kind in "biuf" or plain_name(source) in FROM_ML_DTYPES
    return target.kind in "fc"


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
    if asked and not all(castable(each, dtype_of(asked)) for each in (a, b)):
        return Expectation(REFUSED, f"{a} @ {b} as {asked}")
    if names == set(FLOAT8) and asked in ("", "float16", "float32"):  # halves hold both kinds exactly
        return Expectation(WORKS, "", "float16", asked or "float32")
    own = names.pop() if len(names) == 1 else ""
    if own and asked in ("", own, *WIDER.get(own, ())):
        return _own_type(own, asked)
    if asked:
        return _own_type(asked, asked)
    try:
        common = plain_name(np.result_type(a.newbyteorder("="), b.newbyteorder("=")))
    except TypeError:
        return Expectation(REFUSED, f"NumPy promotes {a} and {b} to nothing")
    return _own_type("" if common in FLOAT8 else common, "")  # which do not hold what was promoted to them


def _own_type(own: str, asked: str) -> Expectation:
    """Operands of the type `own`, and what is asked to come out; "" for what is usual."""
    if own not in ELEMENT_TYPES or (asked == own and own in FLOAT8):
        return Expectation(REFUSED, f"no kernel of {own} gives {asked or 'anything'}")
    return Expectation(WORKS, "", own, asked or USUAL.get(own, own))


def _addends(case: Case, types: Expectation) -> Expectation | None:
    """A refusal where c, bias or out have types that do not go with the result's."""
    written = dtype_of(types.written)
    for name in ("c", "bias"):
        given = case.operands.get(name)
        if given is None or (name == "c" and NUMBERS[case.beta] == 0):
            continue
        if not castable(dtype_of(given.dtype), written):
            return Expectation(REFUSED, f"{name} is {given.dtype}, the result {written}")
    out = dtype_of(case.out.given.dtype)
    if case.out.where == "is c":
        out = dtype_of(case.operands["c"].dtype)
    if case.out.where and not castable(written, out):
        return Expectation(REFUSED, f"out is {out}, the result {written}")
    if (case.scale_a or case.scale_b) and not {plain_name(dtype_of(each.dtype)) for each in (case.a, case.b)} <= set(
        FLOAT8
    ):
        return Expectation(REFUSED, "scales are for 8-bit floats")
    if (case.scale_a or case.scale_b) and types.written not in ("float32", "float16", "bfloat16"):
        return Expectation(REFUSED, f"scales are multiplied in float32; the result is {types.written}")
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
        if types.read in INTEGERS and not _holds(types.written, value):
            return Expectation(REFUSED, f"{name}={value} of {types.written}")
    return None


def _holds(name: str, value: float) -> bool:
    """Whether an integer is a value of the type."""
    if name == "bool":
        return value in (0, 1)
    return bool(np.iinfo(name).min <= value <= np.iinfo(name).max)


def _epilogue(case: Case, types: Expectation) -> Expectation | None:
    """A refusal where an activation has no meaning for the type."""
    if case.activation and types.written.startswith("complex"):
        return Expectation(REFUSED, f"{case.activation} of complex numbers")
    if case.activation and types.written in INTEGERS:
        return Expectation(REFUSED, f"{case.activation} of integers")
    vector = (case.vector_a and case.trans_a != "N") or (case.vector_b and case.trans_b != "N")
    return Expectation(REFUSED, "a vector is not transposed") if vector else None


def _conversions(case: Case, types: Expectation) -> list[tuple[np.dtype, np.dtype]]:
    """The conversions that a call on a device needs there; a host operand is converted on the host."""
    needed = {"a": types.read, "b": types.read, "c": types.written, "bias": types.written}
    needed |= {"scale_a": "float32", "scale_b": "float32"}
    pairs = [
        (dtype_of(given.dtype), dtype_of(needed[name]))
        for name, given in case.operands.items()
        if given.form != "host" and not (name == "c" and NUMBERS[case.beta] == 0)
    ]
    if case.out.where:
        name = "c" if case.out.where == "is c" else ""
        pairs.append((dtype_of(types.written), dtype_of(case.operands[name].dtype if name else case.out.given.dtype)))
    return [(source, target) for source, target in pairs if source != target]


def _on_device(case: Case, types: Expectation) -> Expectation | None:
    """A refusal where kernels cannot convert an array on the device."""
    for source, target in _conversions(case, types) if case.place != "host" else ():
        if not source.isnative or not {plain_name(source), plain_name(target)}.isdisjoint(FROM_ML_DTYPES):
            return Expectation(REFUSED, f"no kernel converts {source} to {target}")
    return None


def _unsure(case: Case, types: Expectation) -> str:
    """Why a case may be refused, or not, though nothing is wrong with it; "" if it must work."""
    if case.out.where and 0 in case.out.given.lie.steps:
        return "out repeats its elements"
    pairs = _conversions(case, types) if case.place != "host" else []
    if not {plain_name(each) for pair in pairs for each in pair} <= CONVERTED:
        return "only some types are converted on devices"
    if case.place == "cuda" and case.a.form != "torch" and types.written in FROM_ML_DTYPES:
        return "CuPy has no such type for the result"
    return ""
