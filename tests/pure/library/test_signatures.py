"""What type checkers and tooltips are told of the library: NumPy arrays give NumPy arrays, PyOpenCL arrays give theirs."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_overloads

import pytest

import tilewright

CALLS: list[Callable[..., Any]] = [
    tilewright.matmul, tilewright.gemm, tilewright.transpose, tilewright.matrix_transpose, tilewright.copy,
]  # fmt: skip


def test_type_checkers_may_read_the_package() -> None:
    assert (Path(tilewright.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_the_kind_of_array_comes_back(call: Callable[..., Any]) -> None:
    *device, host = (inspect.signature(each) for each in get_overloads(call))
    assert host.return_annotation == "np.ndarray"
    assert host.parameters["a"].annotation == "ArrayLike"
    assert device
    assert {each.return_annotation for each in device} == {"DeviceArray"}
    assert any(each.parameters["a"].annotation == "DeviceArray" for each in device)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_overloads_have_the_arguments_of_the_call(call: Callable[..., Any]) -> None:
    own = {name: each.default for name, each in inspect.signature(call).parameters.items()}
    for each in get_overloads(call):
        assert {name: given.default for name, given in inspect.signature(each).parameters.items()} == own
