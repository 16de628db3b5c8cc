"""OpenCL C made ready for clang alone: the headers of built-in functions, and the conversions that a source names."""

import re

from ...core.kernel import PRELUDE
from ...core.source import read_source, without_comments

HEADERS = tuple(
    PRELUDE / name
    for name in (
        "bare_clang.h", "bare_clang_vectors.h", "bare_clang_functions.h", "bare_clang_groups.h", "bare_clang_math.h",
    )
)  # fmt: skip
# Functions that the headers do not have are declared by clang itself, and become calls that are seen in the code.
EXTENSIONS = ",".join(
    f"+cl_khr_{name}" for name in ("fp16", "fp64", "int64_base_atomics", "int64_extended_atomics", "subgroups")
)
DECLARE = ("-Xclang", "-fdeclare-opencl-builtins", "-Xclang", f"-cl-ext={EXTENSIONS}")
# Functions of float that AMD's library makes with more care than the headers' stand-ins.
STAND_INS = frozenset(
    re.findall(
        r"\w+",
        "sin cos tan sincos sinpi cospi tanh cbrt pow powr pown rootn ldexp hypot fmod expm1 log1p sinh cosh asinh acosh "
        "atanh atan acos asin erf erfc atan2 atanpi asinpi acospi atan2pi",
    )
)
_BITS = {"char": 8, "short": 16, "int": 32, "long": 64}
_FLOATS = ("half", "float", "double")
_TYPES = (*(sign + name for name in _BITS for sign in ("", "u")), *_FLOATS)
_CONVERSION = re.compile(
    r"\bconvert_(?P<type>u?char|u?short|u?int|u?long|half|float|double)(?P<width>2|3|4|8|16)?(?P<sat>_sat)?"
    r"(?P<round>_rt[ezpn])?\b"
)
_NEWER = re.compile(
    r"\batomic_(?:(?:u?int|u?long|float)\b|fetch_|load|store|init|exchange|compare)|\bgeneric\b|\bwork_group_[a-z]+_"
)
_ROUNDED = {"_rte": "rint", "_rtp": "ceil", "_rtn": "floor", "_rtz": "trunc", "": "trunc"}


def for_clang(source: str) -> str:
    """The headers, the conversions that `source` names, and `source`, whose lines keep their numbers."""
    headers = "".join(f'#line 1 "{header.name}"\n{read_source(header)}' for header in HEADERS)
    return f'{headers}{conversions(source)}\n#line 1 "rendered.cl"\n{source}'


def conversions(source: str) -> str:
    """Definitions of the `convert_` functions that a source names, for every type to convert from."""
    named = {match[0]: match for match in _CONVERSION.finditer(source)}
    return "\n".join(_definition(match, given) for match in named.values() for given in _TYPES)


def _definition(match: re.Match[str], given: str) -> str:
    target, width = match["type"], match["width"] or ""
    value = "a"
    if given in _FLOATS and target not in _FLOATS and match["round"] not in (None, "_rtz"):
        value = f"{_ROUNDED[match['round']]}({value})"
    if match["sat"] and target not in _FLOATS:
        low, high = _limits(target)
        if given not in _FLOATS:
            own_low, own_high = _limits(given)
            low, high = max(low, own_low), min(high, own_high)
        suffix = "UL" if given == "ulong" else "L" if given not in _FLOATS else ".0"
        lowest = f"(-{-low - 1}{suffix} - 1)" if low else "0"
        if given in _FLOATS or (low, high) != _limits(given):
            value = f"clamp({value}, ({given}){lowest}, ({given}){high}{suffix})"
    whole = f"__builtin_convertvector({value}, {target}{width})" if width else f"({target})({value})"
    return f"TW_BUILTIN {target}{width} {match[0]}({given}{width} a) {{ return {whole}; }}"


def _limits(name: str) -> tuple[int, int]:
    bits = _BITS[name.removeprefix("u")]
    return (0, 2**bits - 1) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def stand_ins(source: str) -> tuple[str, ...]:
    """The functions in a source for which AMD's library has more instructions than the headers' stand-ins, in their order."""
    called = re.findall(r"\b(\w+)\s*\(", without_comments(source))
    return tuple(dict.fromkeys(name for name in called if name in STAND_INS))


def explained(log: str) -> str:
    """The log, with a note on functions that are missing because the vendor's library is missing."""
    unknown = re.search(r"use of undeclared identifier '(\w+)'", log)
    if unknown is None:
        return log
    names = ", ".join(header.name for header in HEADERS)
    return f"{log.rstrip()}\n({names} stand in for the driver's library, and have no built-in function {unknown[1]!r}.)"


def language(source: str, options: tuple[str, ...]) -> str:
    """The version of OpenCL C to compile for: 2.0 for sources that use what it brought, unless `options` name one."""
    named = next((each.strip() for each in options if each.strip().startswith("-cl-std=")), "")
    return named or ("-cl-std=CL2.0" if _NEWER.search(without_comments(source)) else "-cl-std=CL1.2")


def plain_name(function: str) -> str:
    """A function's name without the types that compilers add to it: read_imagef for _Z11read_imagef14ocl_image2d_ro..."""
    match = re.match(r"_Z(\d+)", function)
    return function[match.end() : match.end() + int(match[1])] if match else function
