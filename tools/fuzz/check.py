"""Runs one case. The outcome is right, refused as expected, or a sentence that says what is wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from pyopencl.array import Array

from tilewright.errors import TilewrightError

from .bench import Bench
from .cases import NUMBERS, Case
from .device_arrays import DeviceArrays, fetched
from .faults import faulty_keywords
from .judging import judge_move, judge_product
from .operands import Laid, lay, passed
from .oracle import EITHER, REFUSED, Expectation, expect
from .references import product
from .types import dtype_of, is_object_like

RIGHT, REFUSED_WELL, FAILED = "right", "refused", "failed"


@dataclass(frozen=True)
class Outcome:
    """What came of a case. `seconds` are the call's own."""

    verdict: str
    reason: str = ""


def check(case: Case, bench: Bench) -> Outcome:
    """Make the case's arrays, call, and look at the result, the operands and the memory around all of them."""
    on_device = case.place == "device"
    laid = lay(case, on_device)
    there = DeviceArrays(case, laid, bench) if on_device else None
    arrays = there.arrays if there else {name: passed(each) for name, each in laid.items()}
    expected = expect(case, bench.info)
    out = _out(case, arrays)
    try:
        result = _call(case, bench, arrays, out)
    except TilewrightError as error:
        bench.finish()
        spoilt = _touched(case, laid, there, written=False)
        if spoilt:
            return Outcome(FAILED, f"refused by {type(error).__name__}, but {spoilt}")
        if expected.outcome in (REFUSED, EITHER):
            return Outcome(REFUSED_WELL, f"{type(error).__name__}: {error}")
        return Outcome(FAILED, f"refused: {type(error).__name__}: {error}")
    except Exception as error:  # any other error is a finding, whatever it is
        bench.finish()
        return Outcome(FAILED, f"raised {type(error).__name__}: {error}")
    if expected.outcome == REFUSED:
        bench.finish()
        return Outcome(FAILED, f"not refused ({expected.reason})")
    found = _result(case, bench, result, out, laid)
    wrong = found if isinstance(found, str) else _judged(case, found, laid, expected, bench)
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


def _call(case: Case, bench: Bench, arrays: dict[str, Any], out: Any) -> Any:
    keywords: dict[str, Any] = {"out": out} if out is not None else {}
    if case.place == "host" or case.queue:
        keywords["queue"] = bench.queues[max(case.queue - 1, 0)]
    if case.fault == "queue elsewhere":
        keywords["queue"] = bench.elsewhere
    if case.fault == "queue out of order":
        keywords["queue"] = bench.out_of_order
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


def _result(case: Case, bench: Bench, result: Any, out: Any, laid: dict[str, Laid]) -> np.ndarray | str:
    """The result as a NumPy array, or what is wrong with it as an object."""
    if out is not None and result is not out:
        return f"a {type(result).__name__} came back instead of out"
    if case.place == "device":
        if not isinstance(result, Array):
            return f"a {type(result).__name__} came back for device arrays"
        array = fetched(result, bench)
    else:
        array = np.asarray(result)
        if out is None and any(np.may_share_memory(array, each.block.data) for each in laid.values()):
            return "the result shares memory with an operand"
    return array


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


def _touched(case: Case, laid: dict[str, Laid], there: DeviceArrays | None, written: bool) -> str:
    """Which memory changed that must not have; "" if none did. `written` tells that out may have."""
    target = case.out.where[3:] if _is_operand(case) else "out"
    for name, each in laid.items():
        if is_object_like(dtype_of(each.given.dtype)) or (name == "out" and case.fault == "out masked"):
            continue
        places = [other for key, other in laid.items() if other.block is each.block and key == target and written]
        now = there.now(each.block) if there else each.block.data
        byte = each.block.changed(now, tuple((other.place, other.begin) for other in places))
        if byte is not None:
            span = f"its span is {each.begin} to {each.begin + each.place.span}"
            return f"byte {byte} of the memory of {name} changed, which was none of the result's ({span})"
    return ""
