"""Runs one case. The outcome is right, refused as expected, or a sentence that says what is wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tilewright.errors import TilewrightError

from . import limits
from .bench import Bench
from .bits import Part, asymmetry
from .cases import NUMBERS, Case
from .cuda_arrays import CudaArrays
from .device_arrays import DeviceArrays
from .faults import faulty_keywords
from .host_arrays import HostArrays
from .judging import judge_move, judge_product
from .operands import Laid, lay
from .oracle import EITHER, INTEGERS, REFUSED, Expectation, expect
from .pairs import is_symmetric
from .references import product
from .types import dtype_of, is_object_like

RIGHT, REFUSED_WELL, FAILED = "right", "refused", "failed"
There = HostArrays | DeviceArrays | CudaArrays  # the arrays of a case where they lie


@dataclass(frozen=True)
class Outcome:
    """What came of a case. `seconds` are the call's own."""

    verdict: str
    reason: str = ""


def check(case: Case, bench: Bench) -> Outcome:
    """Make the case's arrays, call, and look at the result, the operands and the memory around all of them."""
    laid = lay(case, case.place != "host")
    there = _there(case, laid, bench)
    try:
        return _checked(case, bench, laid, there)
    finally:
        bench.finish()
        there.close()


def _there(case: Case, laid: dict[str, Laid], bench: Bench) -> There:
    if case.place == "cuda":
        return CudaArrays(case, laid, bench)
    return DeviceArrays(case, laid, bench) if case.place == "device" else HostArrays(case, laid)


def _checked(case: Case, bench: Bench, laid: dict[str, Laid], there: There) -> Outcome:
    expected = expect(case, bench.info)
    out = _out(case, there.arrays)
    try:
        for _ in range(case.warm + 1):
            result = _call(case, bench, there, out)
    except TilewrightError as error:
        bench.finish()
        spoilt = _touched(case, laid, there, written=False)
        if spoilt:
            return Outcome(FAILED, f"refused by {type(error).__name__}, but {spoilt}")
        if expected.outcome in (REFUSED, EITHER):
            return Outcome(REFUSED_WELL, f"{type(error).__name__}: {error}")
        return Outcome(FAILED, f"refused: {type(error).__name__}: {error}")
    except Exception as error:  # any other error is a finding, whatever it is
        return Outcome(FAILED, f"raised {type(error).__name__}: {error}")
    if expected.outcome == REFUSED:
        return Outcome(FAILED, f"not refused ({expected.reason})")
    if out is not None and result is not out:
        return Outcome(FAILED, f"a {type(result).__name__} came back instead of out")
    found = there.fetched(result, out)
    wrong = found if isinstance(found, str) else _judged(case, found, laid, expected, bench)
    if not wrong and not isinstance(found, str):
        wrong = _bits(case, found, laid, expected, bench, there)
    bench.finish()
    wrong = wrong or _touched(case, laid, there, written=True)
    return Outcome(FAILED, wrong) if wrong else Outcome(RIGHT)


def _out(case: Case, arrays: dict[str, Any]) -> Any:
    """What is passed as `out`: None, an array of its own, or an operand."""
    where = case.out.where
    if where.startswith("is "):
        return arrays[where[3:]]
    out = arrays.get("out")
    if case.fault == "out read-only" and out is not None:
        out = out.view()
        out.flags.writeable = False
    if case.fault == "out masked" and out is not None:
        out = np.ma.masked_array(out)
    return out


def _call(case: Case, bench: Bench, there: There, out: Any) -> Any:
    arrays = there.arrays
    keywords: dict[str, Any] = {"out": out} if out is not None else {}
    keywords |= _where(case, bench, there)
    if case.dtype:
        keywords["dtype"] = dtype_of(case.dtype)
    if case.precision:
        keywords["precision"] = case.precision
    positional = [arrays["a"]]
    if case.is_product:
        positional.append(arrays["b"])
    if case.call == "gemm":
        keywords |= {name: arrays[name] for name in ("c", "bias", "scale_a", "scale_b") if name in arrays}
        keywords |= {"alpha": NUMBERS[case.alpha], "beta": NUMBERS[case.beta]}
        keywords |= {"trans_a": case.trans_a, "trans_b": case.trans_b}
        if case.activation:
            keywords["activation"] = case.activation
    return bench.calls[case.call](*positional, **faulty_keywords(case, keywords))


def _where(case: Case, bench: Bench, there: There) -> dict[str, Any]:
    """What the call is given about queues, devices, limits and streams."""
    found: dict[str, Any] = {}
    if isinstance(there, CudaArrays):
        found = there.keywords()
    elif case.place == "host" and case.device:
        found = limits.keywords(case, bench.numbers, bench.info.label)
    elif case.place == "host" or case.queue:
        found["queue"] = bench.queues[max(case.queue - 1, 0)]
    if case.fault in ("queue elsewhere", "queue out of order"):
        found["queue"] = bench.elsewhere if case.fault == "queue elsewhere" else bench.out_of_order
    if case.fault == "queue beside limits":
        found["queue"] = bench.queues[0]
    if case.fault == "same device twice":
        found["device"] = [bench.numbers[0], bench.numbers[0]]
    return found


def _bits(case: Case, result: np.ndarray, laid: dict[str, Laid], types: Expectation, bench: Bench, there: There) -> str:
    """What is wrong with the result's bits, where the pages promise any; "" if nothing is."""
    if not case.is_product or not result.size or (case.out.where and 0 in case.out.given.lie.steps):
        return ""
    if is_symmetric(case, types.read) and (wrong := asymmetry(result)):
        return wrong
    if case.precision != "reproducible" or types.read in INTEGERS or bench.flushes:
        return ""
    part = Part(case, {name: each.held for name, each in laid.items()})
    operands, keywords = part.arguments(there.sent)
    where = there.keywords() if isinstance(there, CudaArrays) else {"queue": bench.queues[0]}
    if where and isinstance(there, CudaArrays):
        bench.finish()  # the operands were sent on another stream than the call's
    try:
        alone = bench.calls["gemm"](*operands, **keywords, **where)
    except TilewrightError as error:
        return f"a part of the product was refused: {type(error).__name__}: {error}"
    found = there.fetched(alone, None) if isinstance(there, CudaArrays) else np.asarray(alone)
    if isinstance(found, str):
        return found
    return part.differs(result, found) or part.unchained(result, (types.read, types.written))


def _judged(case: Case, result: np.ndarray, laid: dict[str, Laid], expected: Expectation, bench: Bench) -> str:
    """What is wrong with the result's elements; "" if nothing is."""
    wanted = dtype_of(expected.written) if case.is_product else dtype_of(case.a.dtype)
    if case.out.where:
        wanted = dtype_of(case.operands[case.out.where[3:]].dtype if _is_operand(case) else case.out.given.dtype)
        if 0 in case.out.given.lie.steps:
            return ""
    if result.dtype != wanted:
        return f"the result is {result.dtype} instead of {wanted}"
    held = {name: each.held for name, each in laid.items()}
    if not case.is_product:
        if is_object_like(dtype_of(case.a.dtype)):
            return ""
        return judge_move(result, _moved(case, held["a"]))
    reference = product(case, held, expected, bench.flushes)
    return judge_product(result, reference, expected.written)


def _is_operand(case: Case) -> bool:
    return case.out.where.startswith("is ")


def _moved(case: Case, a: np.ndarray) -> np.ndarray:
    if case.call == "transpose":
        return a.T
    return np.swapaxes(a, -1, -2) if case.call == "matrix_transpose" else a


def _touched(case: Case, laid: dict[str, Laid], there: There, written: bool) -> str:
    """Which memory changed that must not have; "" if none did. `written` tells that out may have."""
    if left := there.left():
        return left
    target = case.out.where[3:] if _is_operand(case) else "out"
    for name, each in laid.items():
        if is_object_like(dtype_of(each.given.dtype)) or (name == "out" and case.fault == "out masked"):
            continue
        places = [other for key, other in laid.items() if other.block is each.block and key == target and written]
        now = there.now(each.block)
        byte = each.block.changed(now, tuple((other.place, other.begin) for other in places))
        if byte is not None:
            span = f"its span is {each.begin} to {each.begin + each.place.span}"
            return f"byte {byte} of the memory of {name} changed, which was none of the result's ({span})"
    return ""
