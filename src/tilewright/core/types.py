"""The element types. Each fact about a type stands here once: kernels, the library and checks read it from here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from ..errors import UnknownName, Unsupported
from .install import pip_install

if TYPE_CHECKING:
    import numpy as np  # imported where it is called: ladders are listed without it

FLOAT32_WHOLE = 2**24  # float32 holds every whole number up to it


@dataclass(frozen=True)
class ElementType:
    """One element type as kernels see it.

    `real` is the OpenCL C type of an element, `stored` that of one component of an element in a buffer. The function
    decode_<`decode`> makes a number of a component; "plain" types do not need it. Products are summed in `accumulator`
    and stored in one of `results`: the first unless the caller asks for another. `fraction` is the number of bits of a
    float's fraction, 0 for integers. `least` is the smallest float above 0. NumPy has the type unless `from_ml_dtypes`.

    Of "boolean" elements, every byte but 0 is true; products are logical or-and: sums of 0 and 1, of which all but 0 are true.
    """

    name: str
    kind: Literal["float", "integer", "complex", "boolean"]
    itemsize: int
    real: str
    stored: str
    decode: Literal["plain", "half", "bfloat", "e4m3", "e5m2", "truth"]
    fraction: int
    least: float
    accumulator: str
    results: tuple[str, ...]
    from_ml_dtypes: bool = False

    @property
    def exact(self) -> bool:
        """Whether products are exact: of integers modulo the width of the accumulator."""
        return self.kind in ("integer", "boolean")

    @property
    def result(self) -> str:
        """The type of a product unless the caller asks for another."""
        return self.results[0]

    @property
    def parts(self) -> int:
        """Components of an element: 2 for complex numbers."""
        return 2 if self.kind == "complex" else 1

    @property
    def component_bytes(self) -> int:
        """Bytes of a component while it is multiplied and summed."""
        summed = ELEMENT_TYPES[self.accumulator]
        return summed.itemsize // summed.parts

    @property
    def epsilon(self) -> float:
        """The spacing of 1.0 in the accumulator; 0 for integers."""
        return 0.0 if self.exact else 2.0 ** -ELEMENT_TYPES[self.accumulator].fraction

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest value of an exact type."""
        if self.kind == "boolean":
            return 0, 1
        bits = 8 * self.itemsize
        return (0, 2**bits - 1) if self.name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    @property
    def magnitude(self) -> int:
        """The largest absolute value of an exact type."""
        return max(map(abs, self.limits))

    @property
    def float32_steps(self) -> int:
        """How many products of any two such integers float32 can add without rounding; 0 for other types."""
        return FLOAT32_WHOLE // self.magnitude**2 if self.exact else 0


def _integer(name: str, real: str, accumulator: str = "", results: tuple[str, ...] = ()) -> ElementType:
    """An integer type; it is summed and stored as it is, unless it is said otherwise."""
    bits = int(name.lstrip("uint"))
    return ElementType(name, "integer", bits // 8, real, real, "plain", 0, 1, accumulator or name, results or (name,))


_AS_FLOAT32 = ("float32", "float16", "bfloat16")  # the types that float32 sums can be stored in
ELEMENT_TYPES = {
    each.name: each
    for each in (
        ElementType("float32", "float", 4, "float", "float", "plain", 23, 2.0**-149, "float32", ("float32",)),
        ElementType("float64", "float", 8, "double", "double", "plain", 52, 2.0**-1074, "float64", ("float64",)),
        # Sums modulo 2**32 hold those modulo 2**16 and 2**8, so that short integers need one kernel for all results.
        _integer("int8", "char", "int32", ("int32", "int8")),
        _integer("uint8", "uchar", "int32", ("uint8", "int32")),
        _integer("int16", "short", "int32", ("int16", "int32")),
        _integer("uint16", "ushort", "int32", ("uint16", "int32")),
        _integer("int32", "int"),
        _integer("uint32", "uint"),
        _integer("int64", "long"),
        _integer("uint64", "ulong"),
        ElementType("bool", "boolean", 1, "uchar", "uchar", "truth", 0, 1, "int32", ("bool", "int32")),
        ElementType("float16", "float", 2, "half", "ushort", "half", 10, 2.0**-24, "float32", ("float16", "float32")),
        ElementType(
            "bfloat16", "float", 2, "ushort", "ushort", "bfloat", 7, 2.0**-133, "float32", ("bfloat16", "float32"), True
        ),
        ElementType("float8_e4m3fn", "float", 1, "uchar", "uchar", "e4m3", 3, 2.0**-9, "float32", _AS_FLOAT32, True),
        ElementType("float8_e5m2", "float", 1, "uchar", "uchar", "e5m2", 2, 2.0**-16, "float32", _AS_FLOAT32, True),
        ElementType("complex64", "complex", 8, "float2", "float", "plain", 23, 2.0**-149, "complex64", ("complex64",)),
        ElementType(
            "complex128", "complex", 16, "double2", "double", "plain", 52, 2.0**-1074, "complex128", ("complex128",)
        ),
    )
}

FLOAT8 = tuple(name for name in ELEMENT_TYPES if name.startswith("float8"))
FROM_ML_DTYPES = tuple(name for name, kind in ELEMENT_TYPES.items() if kind.from_ml_dtypes)
# The types that need a device with double precision.
DOUBLES = tuple(name for name, kind in ELEMENT_TYPES.items() if kind.component_bytes == 8 and not kind.exact)
EXACT = tuple(name for name, kind in ELEMENT_TYPES.items() if kind.exact)


def element_type(name: str) -> ElementType:
    """The element type of that name; UnknownName with the near matches otherwise."""
    try:
        return ELEMENT_TYPES[name]
    except (KeyError, TypeError):  # what cannot be hashed is no name
        raise UnknownName("dtype", name, ELEMENT_TYPES) from None


@cache
def storable(name: str) -> frozenset[str]:
    """The types in which kernels may store products of a type: those of float32 if it is the accumulator, otherwise the
    type itself and its accumulator."""
    accumulator = element_type(name).accumulator
    return frozenset(_AS_FLOAT32 if accumulator == "float32" else (name, accumulator))


@cache
def numpy_dtype(name: str) -> np.dtype:
    """NumPy's dtype for an element type; bfloat16 and the 8-bit floats come from the package ml_dtypes."""
    import numpy as np

    if not element_type(name).from_ml_dtypes:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError as missing:
        raise Unsupported(f"{name} needs the package ml_dtypes: {pip_install('ml_dtypes')}") from missing
    own: np.dtype = np.dtype(getattr(ml_dtypes, name))
    return own
