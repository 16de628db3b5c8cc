"""Keyword arguments that no call has, and values that none takes, are refused: they were ignored."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tilewright
from tilewright.errors import InvalidInput, UnknownName

CALLS: dict[str, Callable[..., object]] = {
    "explain": tilewright.explain,
    "what_if": tilewright.what_if,
    "run": tilewright.run,
    "why": lambda kernel, **given: tilewright.why(kernel, device_model="nvidia", **given),
    "inspect": lambda kernel, **given: tilewright.inspect(kernel, "sm_90", **given),
    "roofline": tilewright.roofline,
    "predict": tilewright.predict,
}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.cl"
    path.write_text("__kernel void mine(__global float *x) { x[get_global_id(0)] = 0; }\n")
    return path


@pytest.mark.parametrize("name", CALLS)
def test_a_keyword_that_the_call_does_not_have_is_told(name: str, mine: Path) -> None:
    for kernel in (mine, "tiles/02"):
        with pytest.raises(InvalidInput, match=r"no argument 'global_offse'; did you mean global_offset\?"):
            CALLS[name](kernel, global_offse=16)
        with pytest.raises(InvalidInput, match="no argument 'zzz'; those of"):
            CALLS[name](kernel, zzz=1)


def test_a_model_by_another_calls_name_is_told(mine: Path) -> None:
    """`why` and `watch` call it device_model."""
    with pytest.raises(TypeError, match="device_model"):
        CALLS["explain"](mine, device_model="amd64")


@pytest.mark.parametrize("model", [3, ["nvidia"]])
def test_a_model_that_is_no_name_is_told(model: Any, mine: Path) -> None:
    for call in (lambda: tilewright.explain(mine, model=model), lambda: tilewright.why(mine, device_model=model)):
        with pytest.raises(UnknownName, match="no device model is called"):
            call()


def test_a_ladder_has_no_arguments_of_a_file() -> None:
    with pytest.raises(InvalidInput, match="tiles is a whole ladder"):
        tilewright.predict("tiles", "h200", entry="gemm")


@pytest.mark.parametrize("backend", ["cuda", "nope"])
def test_a_backend_that_bench_does_not_measure_is_told(backend: str) -> None:
    with pytest.raises(InvalidInput, match=f"backend='{backend}' is not one of opencl, both"):
        tilewright.bench("quick", backend=backend, seconds=0.01)
