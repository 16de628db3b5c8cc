"""The quickest way of `matmul`: calls that are known to be NumPy's own (`numpy_call.py`), before all else is asked."""

import os
from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy import may_share_memory, ndarray

from .engine import KEPT_CALLS
from .memory.host import HostReady
from .numpy_call import DOT, Way, mirrors_itself

General = TypeVar("General", bound=Callable[..., Any])

# The functions of NumPy for the plainest calls that it computes, by `numpys_key`.
NUMPYS: dict[Hashable, Way] = {}
if hasattr(os, "register_at_fork"):  # the general way refuses calls in forks
    os.register_at_fork(after_in_child=NUMPYS.clear)


def numpys_first(general: General) -> General:
    """`general`, the whole of `matmul`, behind what is NumPy's own.

    It takes `options`, not ten names with defaults: Python takes 0.06 us to fill those in, and 0.06 to compare them. Calls of
    other kinds pay a function and a dictionary for it.
    """
    defaults = general.__kwdefaults__ or {}

    def usual(options: Mapping[str, Any]) -> bool:
        return all(name in defaults and value is defaults[name] for name, value in options.items())

    @wraps(general)
    def matmul(a: Any, b: Any, out: Any = None, **options: Any) -> Any:
        plainest = type(a) is ndarray is type(b) and (out is None or type(out) is ndarray)
        if plainest and (not options or usual(options)):
            # As `numpys_key`, which would take 0.1 us as a function.
            key: Hashable = (a.shape, b.shape, a.dtype, b.dtype)
            if out is not None:
                key = (key, out.shape, out.dtype, out.flags.num)
            base, other = a.base, b.base
            if base is not None or other is not None:
                one_memory = a.size == b.size and may_share_memory(a, b)
                if one_memory or not (a.flags.forc and b.flags.forc):
                    key = (key, a.strides, b.strides, a.flags.num)
            numpys = NUMPYS.get(key)
            if numpys is not None:
                return numpys(a, b) if out is None else numpys(a, b, out)
        return general(a, b, out, **options)

    return cast(General, matmul)


def numpys_key(a: Any, b: Any, out: Any) -> Hashable:
    """What stands for a call in NUMPYS.

    Strides decide how many products a stack is to a kernel, before NumPy 2.3 whether a BLAS reads an operand, whether `numpy.dot`
    copies it, and for A times its own transpose whether NumPy's product is symmetric. For others they are left out: to read them
    takes a tenth of a microsecond. The flags of `out` say whether it is contiguous; those of `a`, beside strides, whether it is
    aligned.
    """
    key: Hashable = (a.shape, b.shape, a.dtype, b.dtype)
    if out is not None:
        key = (key, out.shape, out.dtype, out.flags.num)
    return key if _known_by_shapes(a, b) else (key, a.strides, b.strides, a.flags.num)


def numpys_function(ready: HostReady, a: Any, b: Any) -> Way | None:
    """The function of NumPy that is this call of `matmul`: its result has the same type without being told, and is symmetric
    where it must be. None if there is none."""
    if ready.call.host is None:
        return None
    try:
        usual = np.result_type(a, b)
    except TypeError:  # of two kinds of 8-bit floats
        return None
    if ready.result_type != usual or not (_known_by_shapes(a, b) or mirrors_itself(a, b)):
        return None
    if ready.call.plans[0].host_call != DOT:
        return np.matmul
    return np.dot if a.ndim <= 2 and b.ndim <= 2 else None  # `dot` has other rules for stacks


def _known_by_shapes(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether strides are left out of a call's key: of arrays in one piece each that cannot be a matrix and its transpose. One
    that owns its memory lies in one piece, and need not be asked. Bases do not tell: see `HostMemory.one_place`."""
    if a.base is None is b.base:
        return True
    one_memory = a.size == b.size and may_share_memory(a, b)
    return not one_memory and bool(a.flags.forc and b.flags.forc)


def keep_numpys(ready: HostReady, a: Any, b: Any, out: Any) -> None:
    """Remember that `matmul(a, b, out)` is NumPy's, if it is."""
    if not (type(a) is ndarray is type(b) and (out is None or type(out) is ndarray)):
        return
    function = numpys_function(ready, a, b)
    if function is None or (function is np.dot and not _taken_by_dot(out, ready.result_type)):
        return
    if len(NUMPYS) >= KEPT_CALLS:
        NUMPYS.clear()
    NUMPYS[numpys_key(a, b, out)] = function


def _taken_by_dot(out: np.ndarray | None, kind: np.dtype) -> bool:
    """Whether `numpy.dot` writes to the caller's array for a result of that type, if there is one."""
    return out is None or (out.flags.carray and out.dtype == kind)
