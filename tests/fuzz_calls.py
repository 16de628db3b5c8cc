"""Calls that are wrong, each in one way, for the fuzzer to find: and right ones, made of NumPy alone."""

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.core.device import DeviceInfo
from tilewright.core.types import ELEMENT_TYPES
from tilewright.errors import InvalidInput
from tools.fuzz.bench import Bench
from tools.fuzz.bits import fused


class Desk(Bench):
    """A bench without a device: the calls are made of NumPy."""

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo("none", "NumPy", fp64=True, missing={"vpdpbusd": "there is no device"})

    @property
    def flushes(self) -> bool:
        return False

    @property
    def programs(self) -> int:
        return 0

    def finish(self) -> None:
        """Nothing is ever under way."""


def desk(**changed: Callable[..., Any]) -> Desk:
    calls: dict[str, Callable[..., Any]] = {"matmul": matmul, "gemm": gemm, "transpose": transpose, "copy": copy}
    return Desk(None, (None, None, None), None, {**calls, **changed}, (0, 1))  # type: ignore[arg-type]


def matmul(a: Any, b: Any, out: Any = None, dtype: Any = None, queue: Any = None, **limits: Any) -> Any:
    return gemm(a, b, out=out, dtype=dtype)


def gemm(
    a: Any, b: Any, c: Any = None, *, alpha: Any = 1, beta: Any = 0, trans_a: str = "N", trans_b: str = "N",
    out: Any = None, dtype: Any = None, queue: Any = None,
) -> Any:  # fmt: skip
    """Right for the types that kernels have, if they are the same; all else is refused."""
    a, b = (np.asarray(each) for each in (a, b))
    a, b = (np.swapaxes(each, -1, -2) if how != "N" else each for each, how in ((a, trans_a), (b, trans_b)))
    if a.dtype.name not in ELEMENT_TYPES or a.dtype != b.dtype or a.shape[-1] != b.shape[0]:
        raise InvalidInput("not for this desk")
    if out is not None and (not out.flags.writeable or out.shape != (a.shape[0], b.shape[1])):
        raise InvalidInput("out does not fit")
    wide = np.matmul(a.astype(np.float64), b.astype(np.float64)) * alpha
    if beta:
        wide = wide + beta * np.asarray(c)
    if out is None:
        return wide.astype(a.dtype)
    out[...] = wide
    return out


def transpose(a: Any, out: Any = None, queue: Any = None) -> Any:
    return np.ascontiguousarray(np.asarray(a).T)


def copy(a: Any, out: Any = None, queue: Any = None) -> Any:
    return np.array(a)


def _byte_at(array: np.ndarray, distance: int) -> Any:
    return (ctypes.c_ubyte * 1).from_address(array.__array_interface__["data"][0] + distance)


def writes_behind_out(a: Any, b: Any, out: Any = None, **others: Any) -> Any:
    matmul(a, b, out)
    if out is not None:
        _byte_at(out, -1)[0] ^= 0x55
    return out


def writes_a_gap(a: Any, b: Any, out: Any = None, **others: Any) -> Any:
    """Whole rows, though every second element of them is somebody else's."""
    matmul(a, b, out)
    _byte_at(out, out.itemsize)[0] ^= 0x55
    return out


def reads_behind_a(a: Any, b: Any, **others: Any) -> Any:
    _byte_at(a, a.nbytes)[0]
    return matmul(a, b)


def spoils_a(a: Any, b: Any, **others: Any) -> Any:
    result = matmul(a, b)
    a.flat[0] += 1
    return result


def turned(a: Any, b: Any, **others: Any) -> Any:
    return np.ascontiguousarray(matmul(a, b).T)


def forgets_beta(*operands: Any, beta: Any = 0, **others: Any) -> Any:
    return gemm(*operands, **others)


def off_by_one_bit(a: Any, b: Any, **others: Any) -> Any:
    result = matmul(a, b)
    result.flat[-1] += 2.0**-8
    return result


def nudges_one_side(a: Any, b: Any, **others: Any) -> Any:
    """Within the bounds of rounding errors, but not its own mirror image."""
    result = matmul(a, b)
    result[0, -1] = np.nextafter(result[0, -1], np.inf, dtype=result.dtype)
    return result


def leaves_a_file(a: Any, b: Any, out: Any = None, **others: Any) -> Any:
    Path(f"{out.base.filename}.journal").touch()
    return matmul(a, b, out)


def chained(a: Any, b: Any, c: Any = None, *, backwards: bool = False, **others: Any) -> Any:
    """float32 products as "reproducible" promises them."""
    a, b = (
        np.swapaxes(each, -1, -2) if others.get(f"trans_{name}", "N") != "N" else each
        for name, each in (("a", a), ("b", b))
    )
    left, right = (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    lead = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    total = np.zeros((*lead, left.shape[-2], right.shape[-1]), np.float32)
    for step in range(a.shape[-1])[:: -1 if backwards else 1]:
        total = _fused(left[..., :, step, None], right[..., step, None, :], total)
    bias = np.float32(0) if others.get("bias") is None else others["bias"]
    value = _fused(np.float32(others.get("alpha", 1)), total, bias)
    if others.get("beta", 0):
        value = _fused(np.float32(others["beta"]), c, value)
    value = np.maximum(value, 0) if others.get("activation") else value
    value = value[..., 0] if b.ndim == 1 else value
    return value[..., 0, :] if a.ndim == 1 and b.ndim > 1 else value[..., 0] if a.ndim == 1 else value


def _fused(one: Any, other: Any, added: Any) -> Any:
    return np.vectorize(fused, otypes=[np.float32])(np.float32(one), np.float32(other), np.asarray(added, np.float32))


def chained_backwards(*operands: Any, **others: Any) -> Any:
    return chained(*operands, backwards=True, **others)


def free_sums(a: Any, b: Any, **others: Any) -> Any:
    """Right within the bounds, with another order of sums for other sizes."""
    a, b = (np.ascontiguousarray(each, np.float32) for each in (a, b))
    cut = 1 + (a.shape[0] + b.shape[1]) % 7
    return a[:, :cut] @ b[:cut] + a[:, cut:] @ b[cut:]


def lends_an_operand(a: Any, b: Any, **others: Any) -> Any:
    return np.asarray(a)


def raises(*operands: Any, **others: Any) -> Any:
    raise KeyError("an error of no kind")


def refuses(*operands: Any, **others: Any) -> Any:
    raise InvalidInput("not today")


def spoils_and_refuses(a: Any, *operands: Any, **others: Any) -> Any:
    a.flat[0] += 1
    raise InvalidInput("not today")


def never_refuses(*operands: Any, out: Any = None, **others: Any) -> Any:
    return np.zeros((2, 2), np.float32) if out is None else out


def reading_bench() -> Bench:
    """For a child: its matmul reads one byte too many."""
    return desk(matmul=reads_behind_a)


def ending_bench() -> Bench:
    """For a child: its matmul ends the process."""
    return desk(matmul=partial(_end, 7))


def _end(status: int, *operands: Any, **others: Any) -> Any:
    import os

    os._exit(status)
