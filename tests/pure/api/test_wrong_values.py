"""Wrong values of public calls are refused by the package's own error, which names the argument and the value."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.errors import InvalidInput, TilewrightError, UnknownName

FILE = Path(__file__).parents[3] / "src/tilewright/kernels/ladders/rows/01_naive.cl"
RUNG, SIZE = "rows/01", 16
TIMES: tuple[Any, ...] = (-1, 0, math.nan, math.inf, 10**400, "x", "2.5", True, None, [], [1], b"x", 1j, np.ones(2))
FROM_ZERO: tuple[Any, ...] = (-1, math.nan, 1.5, np.float64(2), "4", True, None, [], b"x")
COUNTS: tuple[Any, ...] = (0, *FROM_ZERO)
LIMITS: tuple[Any, ...] = tuple(each for each in TIMES if each is not math.inf)
TURNS: tuple[Any, ...] = tuple(each for each in TIMES if each is not None)
SWITCHES: tuple[Any, ...] = ("yes", [], 1.5, np.ones(2), len)
FUNCTIONS: tuple[Any, ...] = (-1, "x", None, [])
DEVICES: tuple[Any, ...] = (math.nan, 1.5, True, [], [0], b"0", np.float64(0), object())
DICTS: tuple[Any, ...] = (-1, "x", [1], 1.5, {1: 2}, np.ones(2))
LISTS: tuple[Any, ...] = (-1, 1.5, None, [1], b"x", len)
PATHS: tuple[Any, ...] = (-1, 1.5, None, b"x", {}, "a\0b", len)
NUMBERS: tuple[Any, ...] = (-1, "x", None, b"x", ["1"], np.ones((2, 2)))

# (call, arguments that are right) -> parameter -> values that are wrong
CALLS: dict[str, tuple[dict[str, Any], dict[str, tuple[Any, ...]]]] = {
    "ladder": (
        {"name": "rows", "sizes": SIZE, "rungs": RUNG},
        {
            "name": (-1, None, [], b"rows"), "sizes": (True, b"x", [True], [b"x"], np.ones(2)), "rungs": LISTS, "seconds": TIMES,
            "device": DEVICES, "baselines": SWITCHES, "flush_cache": SWITCHES, "published": SWITCHES, "watch": FUNCTIONS,
            "keep": FUNCTIONS, "so_far": FUNCTIONS, "announce": (-1, "x"),
        },
    ),
    "run": (
        {"kernel": RUNG, "size": SIZE},
        {
            "size": (True, b"x", [1.5], np.ones(2)), "offset": FROM_ZERO, "seconds": TIMES, "time_budget": TIMES,
            "device": DEVICES, "baselines": SWITCHES, "settings": DICTS, "fill": NUMBERS, "watch": FUNCTIONS, "keep": FUNCTIONS,
        },
    ),
    "bench": (
        {"sets": "quick"},
        {"sets": LISTS, "seconds": TIMES, "sustained": TURNS, "device": DEVICES, "precision": (0, None, []),
         "keep": FUNCTIONS},
    ),
    "why": ({"kernel": RUNG, "size": SIZE}, {"seconds": TIMES, "device": DEVICES, "baselines": SWITCHES,
                                                   "html": (-1, b"x", [])}),
    "roofline": ({"subject": RUNG, "size": SIZE}, {"seconds": TIMES, "device": DEVICES, "size": (True, np.ones(2)),
                                                          "keep": FUNCTIONS}),
    "accuracy": ({"size": (SIZE,) * 3}, {"device": DEVICES, "watch": FUNCTIONS, "so_far": FUNCTIONS}),
    "tune": (
        {"sets": "quick"},
        {"sets": LISTS, "seconds": TIMES, "candidates": COUNTS, "time_budget": LIMITS, "output": (-1, b"x")},
    ),
    "plan": ({"size": SIZE}, {"batch": (*FROM_ZERO, 10**30), "device": (math.nan, True, b"0")}),
    "explain": (
        {"kernel": RUNG, "size": SIZE},
        {
            "offset": FROM_ZERO, "steps": COUNTS, "settings": DICTS, "macros": DICTS, "pitches": DICTS,
            "groups": (-1, [1], b"x", 1.5), "watch": FUNCTIONS, "config": (-1, "x"),
        },
    ),
    "what_if": (
        {"kernel": "transpose/05"},
        {"sweep": (*DICTS, {"PAD": 1}, {"PAD": "01"}),
         "pitches": (*DICTS, {"tile": 3}), "size": (True, b"x"), "offset": (-1, None)},
    ),
    "predict": ({"kernel": RUNG, "size": SIZE}, {"on": (-1, None, b"x", [1], {}), "constants": (-1, None)}),
    "inspect": ({"kernel": RUNG}, {"arch": (-1, None, [], {}, b"x", len)}),
    "peaks": ({}, {"like": (-1, None, [], b"x")}),
    "custom_kernel": (
        {"path": FILE},
        {
            "path": PATHS, "global_size": (True, 1.5, b"x", {}, [1.5], [None], np.ones(2)), "local_size": (True, 1.5, b"x", {}),
            "defines": (*DICTS, "gemm"), "operation": (-1, None, [], np.ones(2)), "orders": (-1, None, ["r"]), "options": LISTS,
            "launch": (-1, "x", []),
        },
    ),
    "show": ({"rung": RUNG}, {"rung": (-1, None, [], b"x"), "diff": SWITCHES, "program": SWITCHES}),
    "list": ({}, {"name": (-1, [], b"x")}),
    "tour": ({}, {"ladder": (-1, None, [])}),
    "exercise": ({}, {"name": (-1, [], b"x")}),
    "classroom": ({}, {"folder": PATHS, "exercises": LISTS}),
    "grade": ({}, {"files": (*PATHS, [1])}),
    "check": ({"files": FILE}, {"files": (*PATHS, [1]), "baseline": (-1, b"x", "a\0b"), "update_baseline": SWITCHES}),
    "find_kernel": ({}, {"name": (-1, None, [], {}, b"x")}),
    "find_ladder": ({}, {"name": (-1, None, [], {}, b"x")}),
    "rung_before": ({}, {"kernel": (-1, None, [], b"x")}),
    "watch": (
        {"program": FILE},
        {"arguments": LISTS, "kind": (-1, [], {}), "budget": LIMITS, "time_limit": LIMITS, "samples": COUNTS},
    ),
    "replay": ({"folder": FILE.parent}, {"folder": PATHS}),
    "doctor": ({}, {"time_limit": TIMES}),
    "devices": ({}, {"peaks": SWITCHES, "announce": (-1, "x")}),
    "load_record": ({}, {"path": PATHS}),
    "save_record": ({"record": tilewright.Gemm(2, 2, 2), "path": "/"}, {"record": (-1, None, "x", b"x"), "path": PATHS}),
    "plan_kernel": (
        {"kernel": tilewright.find_kernel(RUNG), "problem": tilewright.Gemm(2, 2, 2), "device": None},
        {"kernel": (-1, RUNG, None), "problem": (-1, "gemm", None), "device": (-1, "cpu", None)},
    ),
    "run_plan": ({"plan": None, "arrays": {}, "device": None}, {"plan": (-1, "x", None)}),
    "verify": ({"plan": None, "device": None}, {"plan": (-1, "x", None)}),
    "compare_explanations": ({"before": None, "after": None}, {"before": (-1, "x", None)}),
    "Gemm": (
        {"m": 2, "n": 2, "k": 2},
        {"m": FROM_ZERO, "batch": FROM_ZERO, "a_order": (0, "r", None, []), "out_dtype": (0, "x", "", [])},
    ),
    "Copy": ({"rows": 2, "columns": 2}, {"rows": FROM_ZERO, "offset": FROM_ZERO}),
    "Transpose": ({"rows": 2, "columns": 2}, {"columns": FROM_ZERO}),
}  # fmt: skip
CASES = [
    (call, name, value) for call, (_, wrong) in CALLS.items() for name, values in wrong.items() for value in values
]


@pytest.mark.parametrize(("call", "name", "value"), CASES)
def test_a_wrong_value_is_refused_before_anything_runs(call: str, name: str, value: Any) -> None:
    function: Callable[..., Any] = getattr(tilewright, call)
    with pytest.raises(TilewrightError) as caught:
        function(**{**CALLS[call][0], name: value})
    assert "\n" not in str(caught.value)


REFUSED = {
    "ladder(seconds=-1)": "seconds=-1: pass a number of seconds above 0, such as 2.5",
    "tune(time_budget='x')": "time_budget='x': pass a number of seconds above 0, such as 2.5, or infinity",
    "custom_kernel(defines='gemm')": "defines='gemm': pass a dict from names to values",
    "run(baselines='yes')": "baselines='yes': pass True or False",
    "run(device=1.5)": "device=1.5 is a float; pass an index or a name",
    "tune(candidates=0)": "candidates=0: pass a whole number from 1 on",
    "ladder(rungs=7)": "rungs=7: pass a name, such as tiles/2, or a list of names",
    "what_if(sweep={'PAD': 1})": "sweep={'PAD': 1}: pass a dict from names to lists of values",
    "classroom(folder=3)": "folder=3: pass the path of a file or folder, as text or as a pathlib.Path",
    "ladder(watch=None)": "watch=None: pass a function",
    "run(fill=1)": "fill=1: pass a list of numbers, such as (2, 3)",
    "plan_kernel(kernel='rows/01')": "kernel='rows/01': pass a Kernel, such as find_kernel gives",
    "explain(groups=1)": "groups=1: give a list of groups, such as [(0, 0, 0)], or 'all'",
}


@pytest.mark.parametrize("written", REFUSED)
def test_what_is_said(written: str) -> None:
    call, name, value = re.fullmatch(r"(\w+)\((\w+)=(.*)\)", written).groups()  # type: ignore[union-attr]
    with pytest.raises(InvalidInput) as caught:
        getattr(tilewright, call)(**{**CALLS[call][0], name: eval(value)})
    assert str(caught.value) == REFUSED[written]


def test_names_of_another_type_are_unknown_names() -> None:
    with pytest.raises(UnknownName, match="no rung is called 5; known"):
        tilewright.find_kernel(5)  # type: ignore[arg-type]


def test_numpys_numbers_and_paths_are_taken(tmp_path: Path) -> None:
    calls: Any = tilewright  # types that its annotations do not have
    kernel = calls.custom_kernel(FILE, np.int64(64), [np.int32(8)], {"A": np.int16(3)})
    assert (kernel.config.global_size, kernel.config.local_size) == (("64",), ("8",))
    assert calls.explain(RUNG, np.int64(16), steps=np.uint16(4000), offset=np.int8(0)).group_count == 1
    assert calls.explain("transpose/05", 32, settings={"PAD": np.int64(1)}).faults == ()
    assert calls.Gemm(np.int64(2), 2, 2).flops == 16
    with calls.watching(budget=np.float32(2), time_limit=math.inf, samples=np.int64(2)) as found:
        assert found.launches == ()
    assert calls.classroom(tmp_path, ["tiles/2"])
    assert calls.show("rows/02", np.True_).startswith("---")
