"""Calls that are wrong on purpose. Each must raise one of the project's errors and write nothing."""

from typing import Any

from .cases import Case
from .limits import NONSENSE

SHAPES = ("k differs", "leads differ", "no dimension", "c shape", "bias shape", "scale shape")
OUTS = ("out shape", "out type", "out read-only", "out list", "out number", "out masked")
NAMES = ("activation unknown", "transposition unknown", "precision unknown", "dtype unknown", "device unknown")
OTHERS = ("c missing", "alpha", "beta", "masked", "queue elsewhere", "precision of another type", "wait for a number")
DEVICE = ("two contexts", "queue elsewhere", "out on the host", "queue out of order")
CUDA = (
    "requires grad", "out requires grad", "numpy beside cuda", "opencl beside cuda", "host tensor beside cuda",
    "device beside cuda",
)  # fmt: skip


def faulty_shape(case: Case, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an operand or of "out" with the case's fault in it."""
    fault = case.fault
    if (fault, name) == ("k differs", "a"):
        place = len(shape) - 2 if case.trans_a != "N" else len(shape) - 1
        return (*shape[:place], shape[place] + 1, *shape[place + 1 :])
    if (fault, name) == ("leads differ", "a"):
        return (2, *shape[-2:])
    if (fault, name) == ("leads differ", "b"):
        return (3, *shape[-2:])
    if (fault, name) == ("no dimension", "a"):
        return ()
    if (fault, name) in (("c shape", "c"), ("out shape", "out")):
        return (*shape[:-1], shape[-1] + 1) if shape else (1,)
    if (fault, name) == ("bias shape", "bias"):
        return (case.n + 1,)
    if (fault, name) == ("scale shape", "scale_a"):
        return (case.m + 1,)
    return shape


def faulty_keywords(case: Case, keywords: dict[str, Any]) -> dict[str, Any]:
    """The keywords of the call with the case's fault among them."""
    changes: dict[str, dict[str, Any]] = {
        "activation unknown": {"activation": "gellu"},
        "transposition unknown": {"trans_b": "X"},
        "precision unknown": {"precision": "tf33"},
        "precision of another type": {"precision": "tf32"},
        "dtype unknown": {"dtype": "nonsense"},
        "device unknown": {"device": "no such device", "queue": None},
        "c missing": {"c": None, "beta": 1},
        "out list": {"out": [[0.0]]},
        "out number": {"out": 3.5},
        "wait for a number": {"wait_for": [1]},
        "wait beside limits": {"wait_for": []},
        "device beside cuda": {"device": 0},
        **{name: {"max_device_bytes": value} for name, value in NONSENSE.items()},
    }
    return {**keywords, **changes.get(case.fault, {})}
