"""Kernels whose arguments are their own, run on a device: their results are those of the interpreter, or of a given file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.analysis.arguments import ready_kernel
from tilewright.analysis.diagnosis import diagnosed
from tilewright.core.problems import make_problem
from tilewright.errors import InvalidInput
from tilewright.kernels.settings import chosen_kernel
from tilewright.measurement.cases import Case, CaseBuilder
from tilewright.measurement.trial import tried_case
from tilewright.runtime.device import Device

SCALE = "__kernel void scale(__global const float* x, __global float* y, int n)\n" \
        "{ int i = get_global_id(0); if (i < n) y[i] = 2 * x[i]; }\n"  # fmt: skip
MIX = """typedef struct { float x; int2 y; char t; float w[3]; } P;
typedef struct { float a; int b; } pair;
__kernel void blend(__global float* out, P p, float4 v, float3 u, short s, uchar b, ulong big, __global float* maybe,
                  __local float* tile, __global pair* pairs)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    tile[l] = p.x * (i + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    pairs[i].b += 3;
    out[i] = maybe ? 0 : tile[l] + 10 * p.y.y + 100 * p.t + p.w[2] + v.w + u.z + s + b + (float)(big >> 40) + pairs[i].a
        + get_global_offset(0) + get_local_size(0);
}
"""
MIXED: dict[str, Any] = {
    "p": {"x": 0.5, "y": (3, 4), "t": -2, "w": (1, 2, 3)}, "v": "(1,2,3,4)", "u": (1, 2, 30), "s": -7, "b": 200,
    "big": "3*1099511627776", "maybe": None,
}  # fmt: skip


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def made(text: str) -> Path:
        path = tmp_path / "mine.cl"
        path.write_text(text)
        return path

    return made


def run(path: Path, device: Device, **how: Any) -> Case:
    """Built, run once and judged, without a measurement."""
    kernel = ready_kernel(chosen_kernel(path, **how))
    return CaseBuilder(device, "float32").kernel_case(kernel, make_problem(kernel, (1,)))


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"global_size": "100", "local_size": "50", "global_offset": "7"},
        {"global_size": "100", "local_size": "32"},
        {"global_size": "5000", "local_size": "50"},
    ],
)
def test_structs_vectors_null_and_local_memory(write: Any, device: Device, how: dict[str, Any]) -> None:
    made = run(write(MIX), device, arguments=MIXED, **how)
    assert made.row.passed, made.row.reason
    assert "checked against explain's interpreter" in str(made.verdict)
    assert "elements of out" in str(made.verdict)


def test_ragged_groups(write: Any, device: Device) -> None:
    made = run(write(MIX), device, arguments=MIXED, global_size="100", local_size="32", ragged=True)
    row = made.row
    if row.status == "build failed" or "INVALID_WORK_GROUP_SIZE" in row.reason:
        pytest.skip("no OpenCL 2 here")
    assert row.passed, row.reason
    assert "100 elements of out" in str(made.verdict)


@pytest.mark.parametrize("shared", ["@x", "@x+512"])
def test_shared_buffers(write: Any, device: Device, shared: str) -> None:
    made = run(write(SCALE), device, arguments={"x": "f32[1024]", "y": shared, "n": 512})
    assert made.row.passed, made.row.reason
    assert "1,024 elements of x" in str(made.verdict)


def test_a_part_where_no_part_may_begin_is_refused(write: Any, device: Device) -> None:
    row = run(write(SCALE), device, arguments={"x": "f32[1024]", "y": "@x+1", "n": 64}).row
    assert row.status == "refused"
    assert "at multiples of" in row.reason


def test_given_results_decide(write: Any, device: Device, tmp_path: Path) -> None:
    x = np.random.default_rng(1).random(300, np.float32)
    np.save(tmp_path / "y.npy", 2 * x)
    right = run(
        write(SCALE), device, arguments={"x": x, "y": np.zeros_like(x), "n": 300}, expect={"y": f"{tmp_path}/y.npy"}
    )
    assert str(right.verdict) == "checked against the given results: 300 elements of y"
    wrong = run(write(SCALE), device, arguments={"x": x, "y": np.zeros_like(x), "n": 300}, expect={"y": 3 * x})
    assert wrong.row.status == "wrong"
    assert "compared with the given results" in wrong.row.reason


def test_arrays_of_the_caller_reach_the_child_which_finds_overruns(write: Any, device: Device) -> None:
    x = np.zeros(2**17, np.float32)  # too long for a command line
    kernel = ready_kernel(
        chosen_kernel(write(SCALE.replace("y[i] =", "y[i + 5] =")), arguments={"x": x, "y": x.copy()})
    )
    problem = make_problem(kernel, (1,))
    row = diagnosed(
        tried_case(CaseBuilder(device, "float32"), kernel, problem, device).row, kernel, problem, device.info
    )
    assert row.status == "wrong", row.reason
    assert "outside of y" in row.reason
    assert any("out of bounds" in fault.kind for fault in row.faults)


def test_a_write_into_a_const_buffer_by_another_name_is_no_input_that_changed(write: Any, device: Device) -> None:
    assert run(write(SCALE), device, arguments={"x": "f32[64]", "y": "x", "n": 64}).row.passed


def test_what_nobody_can_check_is_said(write: Any, device: Device) -> None:
    racy = "__kernel void k(__global int* x) { x[0] = get_global_id(0); }"
    made = run(write(racy), device)
    assert "nothing checks its result: explain finds in it" in str(made.verdict)


def test_a_product_by_other_names_over_zeros(write: Any, device: Device) -> None:
    text = """__kernel void mm(__global float* in1, __global float* in2, __global float* out, int rows)
    { int r = get_global_id(0), c = get_global_id(1);
      for (int k = 0; k < K_; k++) out[r * N_ + c] += in1[r * K_ + k] * in2[k * N_ + c]; }"""
    how: dict[str, Any] = {
        "bind": "in1=A,in2=B,out=C,rows=M", "global_size": "M,N", "local_size": "8,8", "settings": {"K_": "K", "N_": "N"},
    }  # fmt: skip
    kernel = ready_kernel(chosen_kernel(write(text), init={"out": 0}, **how), (64, 32, 16))
    case = CaseBuilder(device, "float32").kernel_case(kernel, make_problem(kernel, (64, 32, 16)))
    assert case.verdict is not None
    assert case.verdict.passed, case.verdict.reason
    with pytest.raises(InvalidInput, match="is an input"):
        ready_kernel(chosen_kernel(write(text), init={"in1": 0}, **how), (64, 32, 16))


def test_run_says_what_was_assumed(write: Any, device: Device) -> None:
    made = tilewright.run(write(SCALE), device=device, seconds=0.02, baselines=False)
    assert "checked against explain's interpreter: 1,024 elements of y" in str(made)
    assert any("--arg n=1024" in note for note in made.record.rows[0].notes)


@pytest.mark.parametrize(
    ("function", "factor", "passed"),
    [("native_exp", 1.0002, True), ("native_exp", 1.01, False), ("exp", 1.0002, False)],
)
def test_last_digits_of_native_functions_are_the_devices_own(
    function: str, factor: float, passed: bool, write: Any, device: Device
) -> None:
    path = write("kernel void f(global float* x, global float* y) { int i = get_global_id(0); y[i] = EXP(x[i]); }\n")
    x = np.linspace(0, 5, 256, dtype=np.float32)
    made = run(
        path, device, arguments={"x": x, "y": "f32[256]"}, expect={"y": np.exp(x) * np.float32(factor)},
        global_size="256", local_size="64", settings={"EXP": function},
    )  # fmt: skip
    assert made.row.passed is passed, made.row.reason
    assert (function in made.row.reason) is (function == "native_exp" and not passed)
