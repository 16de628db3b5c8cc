"""The element types: their names, how OpenCL C spells them, and how exactly they compute."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from .errors import UnknownName, Unsupported

if TYPE_CHECKING:
    import numpy as np  # imported where it is called: ladders are listed without it


@dataclass(frozen=True)
class ElementType:
    """One element type as kernels see it.

    `accumulator` is the type in which products are summed; `epsilon` is the spacing of 1.0 in that accumulator
    (0 for the integers, which are exact modulo their width); `real` is how OpenCL C spells the stored element.
    """

    name: str
    real: str
    itemsize: int
    accumulator: str
    epsilon: float

    @property
    def exact(self) -> bool:
        return self.epsilon == 0.0


ELEMENT_TYPES = {
    each.name: each
    for each in (
        ElementType("float32", "float", 4, "float32", 2.0**-23),
        ElementType("float64", "double", 8, "float64", 2.0**-52),
        ElementType("int32", "int", 4, "int32", 0.0),
        ElementType("int8", "char", 1, "int32", 0.0),
        ElementType("float16", "half", 2, "float32", 2.0**-23),
        ElementType("bfloat16", "ushort", 2, "float32", 2.0**-23),
        ElementType("float8_e4m3fn", "uchar", 1, "float32", 2.0**-23),
        ElementType("float8_e5m2", "uchar", 1, "float32", 2.0**-23),
        ElementType("complex64", "float2", 8, "complex64", 2.0**-23),
        ElementType("complex128", "double2", 16, "complex128", 2.0**-52),
    )
}

FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
FROM_ML_DTYPES = ("bfloat16", *FLOAT8)
DOUBLES = ("float64", "complex128")  # what a device must be asked for double precision to compute


def element_type(name: str) -> ElementType:
    """The element type of that name; UnknownName with the near matches otherwise."""
    if name not in ELEMENT_TYPES:
        raise UnknownName("dtype", name, ELEMENT_TYPES)
    return ELEMENT_TYPES[name]


@cache
def numpy_dtype(name: str) -> np.dtype:
    """NumPy's dtype for an element type; bfloat16 and the 8-bit floats come from the package ml_dtypes."""
    import numpy as np

    element_type(name)
    if name not in FROM_ML_DTYPES:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError as missing:
        raise Unsupported(f"{name} needs the package ml_dtypes: pip install ml_dtypes") from missing
    own: np.dtype = np.dtype(getattr(ml_dtypes, name))
    return own
