"""The builtin functions of OpenCL C, as tables of name -> what compiles a call of it."""

from .address_spaces import ADDRESS_SPACES
from .atomics import find_atomic
from .ballots import BALLOTS
from .block_access import find_block_access
from .c11_atomics import C11_ATOMICS, find_c11_atomic
from .collectives import COLLECTIVES
from .common import Builtin
from .conversion import convert_vector, find_conversion
from .copies import COPIES
from .dot_products import DOT_PRODUCTS, find_dot_product
from .geometric import GEOMETRIC
from .images import IMAGES, find_image_access
from .integer import INTEGER
from .math import MATH
from .nvidia import NVIDIA_WRAPPERS, PTX_ADDRESSES
from .relational import RELATIONAL
from .sub_groups import SUB_GROUPS
from .two_results import TWO_RESULTS
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
    **COLLECTIVES,
    **SUB_GROUPS,
    **BALLOTS,
    **IMAGES,
    **C11_ATOMICS,
    **DOT_PRODUCTS,
    **TWO_RESULTS,
    **NVIDIA_WRAPPERS,
    **PTX_ADDRESSES,
    "__builtin_convertvector": convert_vector,
    "__builtin_astype": convert_vector,
}


_FINDERS = (
    find_conversion,
    find_vector_access,
    find_atomic,
    find_c11_atomic,
    find_block_access,
    find_image_access,
    find_dot_product,
)


def find_builtin(name: str) -> Builtin | None:
    """What compiles a call of the builtin `name`; None if there is no such function."""
    if name in _NAMED:
        return _NAMED[name]
    for find in _FINDERS:
        found = find(name)
        if found is not None:
            return found
    return None


__all__ = ["NVIDIA_WRAPPERS", "PTX_ADDRESSES", "Builtin", "find_builtin"]
