"""`precision=` on whatever device is here: never less than was asked for, and the plan says what is done instead."""

import numpy as np
import pytest

import tilewright
from tilewright.cli.main import main
from tilewright.core.precision import PRECISIONS
from tilewright.core.problem import Gemm
from tilewright.core.types import numpy_dtype
from tilewright.dispatch.choice import plan_product
from tilewright.errors import InvalidInput, UnknownName
from tilewright.runtime.opencl.device import Device

pytestmark = pytest.mark.device
SIZE = 192
OWN_TYPE = {name: dtypes[0] for name, dtypes in PRECISIONS.items()}


@pytest.mark.parametrize("precision", [None, "ieee", *PRECISIONS])
def test_a_product_keeps_the_bound_of_what_was_asked(device: Device, precision: str | None) -> None:
    random = np.random.default_rng(2)
    dtype = OWN_TYPE.get(precision or "", "float32")
    arrays = {name: random.normal(size=(SIZE, SIZE)).astype(numpy_dtype(dtype)) for name in "AB"}
    result = tilewright.matmul(arrays["A"], arrays["B"], precision=precision, queue=device.queue)
    asked = precision if precision in PRECISIONS else ""
    problem = Gemm(SIZE, SIZE, SIZE, dtype, out_dtype="float32", precision=asked)
    reference = problem.reference(arrays)
    assert (np.abs(result - reference) <= problem.error_bound(arrays, reference)).all()


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_plan_says_if_a_device_has_no_such_kernel(device: Device, precision: str) -> None:
    problem = Gemm(SIZE, SIZE, SIZE, OWN_TYPE[precision], out_dtype="float32", precision=precision)
    plan = plan_product(problem, device.info)
    has_it = any(step.kernel.precision == precision for step in plan.steps)
    assert has_it != any(precision in note for note in plan.notes)


def test_the_command_line_says_so_too(device_number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(SIZE), "--precision", "tf32", "--device", device_number]) == 0
    assert "tf32" in capsys.readouterr().out


def test_other_types_and_other_words_are_refused(device: Device) -> None:
    matrix = np.eye(4)
    with pytest.raises(InvalidInput, match=r"tf32.*float64"):
        tilewright.matmul(matrix, matrix, precision="tf32", queue=device.queue)
    with pytest.raises(InvalidInput, match=r"fp8.*float32"):
        tilewright.matmul(matrix.astype(np.float32), matrix.astype(np.float32), precision="fp8", queue=device.queue)
    with pytest.raises(UnknownName, match="'half'"):
        tilewright.matmul(matrix, matrix, precision="half", queue=device.queue)
