"""Calls on host arrays that ask for tiles or name devices, and what the pages say of them."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tilewright.core.device import DeviceInfo

from .cases import NUMBERS, Case, Given, Out, count
from .types import dtype_of, is_object_like

# What `device=` is: nothing, an index, the device's whole label, all devices, a list with this one first.
DEVICES = ("default", "index", "label", "all", "list")
NO_TILES = DEVICES[:3]
SIDES = (1, 3, 65, 130, 200, 257, 400, 513, 700, 1000, 1500)  # tiles are of multiples of 64
SMALL = (1, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 20, 33)  # where NumPy's own product is likely to be the fastest
# Bytes on a device: too few for an element of each matrix, about what the smallest tiles need, enough for several, for all.
TINY, TIGHT = (1, 2, 7), (60_000, 100_000, 200_000, 300_000, 400_000, 700_000)
ENOUGH = (
    1_000_000,
    1_000_000,
    1_500_000,
    2_000_000,
    2**24,
)  # the first for elements of up to 8 bytes, the fourth for all
ENOUGH_OF_A_GPU = 2**27  # kernels there may want scratch memory, too
HOST_ENOUGH = 2**27  # beside a result: pinned memory, and what is read from files ahead
NONSENSE: dict[str, Any] = {"limit of text": "lots", "limit of nothing": 0, "limit below 0": -5, "limit of True": True}
LIMIT_FAULTS = (*NONSENSE, "queue beside limits", "wait beside limits", "same device twice")


def small(chance: random.Random, case: Case) -> Case:
    """The product for the default device, mostly so small that it may be NumPy's own."""
    case = case.but(device="default", queue=0)
    if not case.is_product or chance.random() < 0.2:
        return case
    return case.but(m=chance.choice(SMALL), n=chance.choice(SMALL), k=chance.choice(SMALL))


def named(chance: random.Random, case: Case) -> Case:
    """The call on a device that is named, mostly with limits, which `copy` does not have."""
    if case.call == "copy":
        return case.but(device=chance.choice(NO_TILES), queue=0)
    case = case.but(device=chance.choices(DEVICES, (3, 8, 2, 1, 1))[0], queue=0)
    if chance.random() < 0.1:
        return case
    case = _sized(chance, case)
    device_bytes = chance.choice(chance.choices((TINY, TIGHT, ENOUGH), (1, 7, 9))[0])
    case = case.but(device_bytes=device_bytes)
    if (
        case.out.where not in ("", "own", "is c") and chance.random() < 0.6
    ):  # in tiles it may hardly lie over an operand
        given = Given(case.a.dtype) if case.out.where.startswith("is ") else case.out.given
        case = case.but(out=Out("own", given))
    if chance.random() < 0.2:
        result = count(case.result_shape) * 16
        case = case.but(host_bytes=chance.choice((1, 1000, 10**6, 10**7, HOST_ENOUGH + result)))
    return in_files(chance, case)


def _sized(chance: random.Random, case: Case) -> Case:
    """The call with sides of a few tiles, mostly of matrices without a batch."""
    sides = [chance.choice(SIDES) for _ in range(3)]
    if not case.is_product:
        lead = (min(3, case.shape[0]),) if case.call == "matrix_transpose" and len(case.shape) > 2 else ()
        return case.but(shape=(*lead, *sides[:2])) if chance.random() < 0.9 else case
    if chance.random() < 0.8:
        case = case.but(lead_a=(), lead_b=())
    return case.but(m=sides[0], n=sides[1], k=sides[2])


def in_files(chance: random.Random, case: Case) -> Case:
    """The case with some of its arrays in files that are mapped, which hold no pointers."""
    if is_object_like(dtype_of(case.a.dtype)):
        return case
    changes: dict[str, Any] = {}
    for name, given in case.operands.items():
        if name in ("a", "b", "c") and chance.random() < 0.3:
            changes[name] = _filed(given)
    out = case.out
    if out.where == "own" and chance.random() < 0.5:
        changes["out"] = replace(out, given=_filed(out.given))
    return case.but(**changes)


def _filed(given: Given) -> Given:
    return replace(given, form="file")


def keywords(case: Case, devices: Sequence[int], label: str) -> dict[str, Any]:
    """What a call on host arrays is given of devices and limits. `devices` are all numbers, the case's own first."""
    named: dict[str, Any] = {"index": devices[0], "label": label, "all": "all", "list": list(devices[:2])}
    found: dict[str, Any] = {}
    if case.device in named:
        found["device"] = named[case.device]
    if case.device_bytes:
        found["max_device_bytes"] = case.device_bytes
    if case.host_bytes:
        found["max_host_bytes"] = case.host_bytes
    return found


def refusal(case: Case, read: int, written: int) -> str:
    """Why a call in tiles must be refused; "" if it need not be. `read` and `written` are bytes of an element."""
    if not case.is_product and len(case.shape) != 2 and (case.call != "matrix_transpose" or len(case.shape) < 2):
        return f"{case.call} in tiles is for matrices"
    if not count(case.result_shape):
        return ""
    if _overlapped(case) == "certainly":
        return "in tiles, out may not share memory with an operand"
    needed = written + (2 * read if case.is_product and case.k and NUMBERS[case.alpha] != 0 else 0)
    if 0 < case.device_bytes < needed:
        return f"{case.device_bytes} bytes do not hold an element of each matrix"
    result = 0 if case.out.where else count(case.result_shape) * written
    if 0 < case.host_bytes < max(result, needed):
        return f"{case.host_bytes} bytes of the host do not hold the result"
    return ""


def unsure(case: Case, info: DeviceInfo, read: int, written: int) -> str:
    """Why a call in tiles may be refused, or not; "" if it must work. `read` and `written` are bytes of an element."""
    if not count(case.result_shape):
        return ""
    if _overlapped(case):
        return "out may share memory with an operand"
    enough = ENOUGH[0 if max(read, written) <= 8 else 3] if info.kind == "cpu" else ENOUGH_OF_A_GPU
    if case.a.dtype.startswith("float8"):  # their kernels convert them in scratch memory
        enough = max(enough, ENOUGH[-1])
    if 0 < case.device_bytes < enough:
        return "the smallest tiles may not fit"
    if case.device_bytes and case.precision == "reproducible" and case.k * 16 * 64 * 4 > case.device_bytes:
        return "k is not divided, and tiles over all of it may not fit"
    result = 0 if case.out.where else count(case.result_shape) * written
    if case.host_bytes and case.host_bytes < HOST_ENOUGH + result:
        return "reading, writing and tiles may not fit the host's memory"
    return ""


def _overlapped(case: Case) -> str:
    """Whether out lies in the memory of an operand: "certainly", "perhaps", or "" for no."""
    out: Out = case.out
    if out.where in ("", "own", "is c"):
        return ""
    name = out.where.removeprefix("is ")
    if name == "bias":  # which is copied
        return ""
    if name == "c" or 0 in case.shape_of(name):
        return "perhaps"
    return "certainly" if out.distance == 0 else "perhaps"
