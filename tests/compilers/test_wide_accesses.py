"""The rungs that teach wide accesses have them: in what NVRTC makes of them, and in what `explain` says of them."""

import pytest
from devices import NVIDIA

from tilewright.analysis.explain import explain_kernel
from tilewright.analysis.inspect import inspect
from tilewright.analysis.inspect.instruction_kinds import GLOBAL_LOAD, LOCAL_STORE
from tilewright.core.kernel import Dialect, render
from tilewright.core.problem import Transpose
from tilewright.core.problems import make_problem
from tilewright.dispatch.choice import plan_copy
from tilewright.kernels import find_kernel
from tilewright.kernels.copy import TRANSPOSE_UNALIGNED
from tilewright.runtime.cuda.nvrtc import find_nvrtc

WIDE_STORES = ("tiles/07", "tiles/08", "tiles/10")
WIDE_LOADS = ("rows/08", "rows/09")


def widths(rung: str, kind: str) -> set[str]:
    """The accesses of that kind, with their bits, in the PTX of a rung."""
    if find_nvrtc("sm_90") is None:
        pytest.skip("NVRTC is not here")
    mix = inspect(rung, "sm_90").mix
    assert mix is not None
    return {effect for effect in mix.effects if effect.startswith(kind)}


@pytest.mark.parametrize("rung", WIDE_STORES)
def test_tiles_are_stored_by_whole_vectors(rung: str) -> None:
    assert widths(rung, LOCAL_STORE) == {f"{LOCAL_STORE} 128"}


@pytest.mark.parametrize("rung", WIDE_LOADS)
def test_rows_and_columns_are_loaded_by_whole_vectors(rung: str) -> None:
    assert widths(rung, GLOBAL_LOAD) == {f"{GLOBAL_LOAD} 128"}


def test_pieces_of_unaligned_columns_are_stored_by_whole_vectors() -> None:
    compiler = find_nvrtc("sm_90") or pytest.skip("NVRTC is not here")
    step = plan_copy(Transpose(70, 52), NVIDIA).steps[-1]
    assert step.kernel.name == TRANSPOSE_UNALIGNED.name
    source = render(step.kernel, step.config, step.problem, Dialect.CUDA)
    assert "st.global.v4.u32" in compiler.compile(source, step.kernel.name, "sm_90").ptx


@pytest.mark.parametrize("rung", [*WIDE_STORES, *WIDE_LOADS])
def test_explain_need_not_assume_an_alignment(rung: str) -> None:
    kernel = find_kernel(rung)
    found = explain_kernel(kernel, make_problem(kernel, (128, 128, 16), "float32"))[-1]
    assert not [each.position.line for each in found.accesses if each.assumed_wide]
    assert {each.conflicts for each in found.accesses if each.operation == "store"} == {0}
