"""The builtin functions of OpenCL C, as tables of name -> what compiles a call of it."""

from .address_spaces import ADDRESS_SPACES
from .atomics import find_atomic
from .common import Builtin
from .conversion import convert_vector, find_conversion
from .copies import COPIES
from .geometric import GEOMETRIC
from .integer import INTEGER
from .math import MATH
from .nvidia import NVIDIA_WRAPPERS
from .relational import RELATIONAL
from .vectors import VECTORS, find_vector_access
from .workitem import WORK_ITEM

_NAMED: dict[str, Builtin] = {
    **MATH,
    **GEOMETRIC,
    **INTEGER,
    **RELATIONAL,
    **VECTORS,
    **WORK_ITEM,
    **ADDRESS_SPACES,
    **COPIES,
    **NVIDIA_WRAPPERS,
    "__builtin_convertvector": convert_vector,
    "__builtin_astype": convert_vector,
}


def find_builtin(name: str) -> Builtin | None:
    """What compiles a call of the builtin `name`; None if there is no such function."""
    if name in _NAMED:
        return _NAMED[name]
    return find_conversion(name) or find_vector_access(name) or find_atomic(name)


__all__ = ["NVIDIA_WRAPPERS", "Builtin", "find_builtin"]
