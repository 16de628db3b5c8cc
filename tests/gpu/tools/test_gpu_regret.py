"""On an NVIDIA GPU with PyTorch: regret of a few shapes, and a wrong result is found before it is timed."""

import pytest

from tilewright.core.problem import Gemm
from tilewright.runtime.opencl.device import Device
from tools.regret.measured import measured
from tools.regret.tensors import Tensors, takes

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_some_shapes_are_measured_on_tensors(dtype: str, nvidia: Device) -> None:
    assert takes(dtype, nvidia.info.features)
    record = measured(dtype, nvidia, 4, 3, 2, 0.05, 300.0, lambda shape: None)
    assert len(record.shapes) == 4
    for each in record.shapes:
        assert not each.reason
        assert each.chosen
        assert 0 < each.seconds < 1
        assert [rival.name for rival in each.rivals] == ["cuBLAS"]
        assert each.regret >= 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex128"])
def test_a_wrong_element_is_found(dtype: str, nvidia: Device) -> None:
    tensors = Tensors(Gemm(33, 17, 65, dtype, batch=3, b_order="column"))

    def right() -> None:
        torch.matmul(tensors.a, tensors.b, out=tensors.out)

    def wrong() -> None:
        right()
        tensors.out[1, 32, 16] += 1

    def unwritten() -> None:
        tensors.out[:2] = (tensors.a @ tensors.b)[:2]

    assert tensors.is_right_after(right)
    assert not tensors.is_right_after(wrong)
    assert not tensors.is_right_after(unwritten)
