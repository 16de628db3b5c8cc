"""Which baselines are measured where: from one list, in which every library has one place."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from devices import CPU, NVIDIA

from tilewright.core.device import DeviceInfo
from tilewright.core.problem import Arrays, Gemm, Problem, Transpose
from tilewright.core.records import Role, RowStatus
from tilewright.measurement import baselines
from tilewright.measurement.baselines import Baseline, Measurement, Request, blas, child, clblast, cublas, registry
from tilewright.measurement.baselines.registry import baselines_for
from tilewright.measurement.cases import CaseBuilder
from tilewright.runtime.device import Device
from tilewright.runtime.run import Times, Work

LADDER, LIBRARY, ACCURACY = Measurement.LADDER, Measurement.LIBRARY, Measurement.ACCURACY
SQUARE, FP8 = Gemm(64, 64, 64), Gemm(64, 64, 64, "float8_e4m3fn", out_dtype="float32", precision="fp8")
FAST = "cuBLAS, fast accumulation"


def device(info: DeviceInfo) -> Device:
    return cast(Device, SimpleNamespace(info=info))


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """All libraries are installed, and every device is one that CLBlast takes."""
    monkeypatch.setattr(child, "cublas_present", lambda: True)
    monkeypatch.setattr(clblast, "clblast_present", lambda: True)
    monkeypatch.setattr(clblast, "Device", SimpleNamespace)
    monkeypatch.setattr(blas, "place_of", lambda own: "/a/place")
    monkeypatch.setattr(blas, "processor_flags", lambda: "flags : avx2 avx512f")


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize(
    ("measurement", "problem", "info", "names"),
    [
        (LADDER, SQUARE, CPU, ["NumPy", "CLBlast"]),
        (LADDER, SQUARE, NVIDIA, ["NumPy", "cuBLAS", "CLBlast"]),
        (LADDER, Transpose(64, 64), NVIDIA, ["NumPy", "PyTorch", "CLBlast"]),
        (LADDER, Gemm(512, 512, 512, "float16"), CPU, ["CLBlast"]),
        (LIBRARY, SQUARE, CPU, ["NumPy", "CLBlast", *(each.name for each in blas.LIBRARIES)]),
        (LIBRARY, Transpose(64, 64), CPU, ["NumPy", "CLBlast"]),
        (LIBRARY, SQUARE, NVIDIA, ["cuBLAS", "CLBlast"]),
        (LIBRARY, Transpose(64, 64), NVIDIA, ["cuBLAS", "CLBlast"]),
        (LIBRARY, FP8, NVIDIA, ["cuBLAS", FAST, "CLBlast"]),
        (ACCURACY, SQUARE, CPU, ["NumPy"]),
        (ACCURACY, Gemm(64, 64, 64, precision="fp32_split"), CPU, []),
        (ACCURACY, SQUARE, NVIDIA, ["cuBLAS"]),
        (ACCURACY, Gemm(64, 64, 64, precision="tf32"), NVIDIA, ["cuBLAS"]),
        (ACCURACY, Gemm(64, 64, 64, precision="fp32_split"), NVIDIA, []),
        (ACCURACY, FP8, NVIDIA, ["cuBLAS", FAST]),
        (ACCURACY, Gemm(63, 63, 63, "float8_e4m3fn", out_dtype="float32", precision="fp8"), NVIDIA, []),
    ],
)
def test_who_is_measured(measurement: Measurement, problem: Problem, info: DeviceInfo, names: list[str]) -> None:
    assert [baseline.name for baseline, _ in baselines_for(measurement, problem, device(info))] == names


@pytest.mark.usefixtures("everything")
def test_a_library_that_needs_an_instruction_is_measured_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "processor_flags", lambda: "flags : avx2")
    names = [baseline.name for baseline, _ in baselines_for(LIBRARY, SQUARE, device(CPU))]
    assert "BLIS" in names
    assert "BLIS (skx)" not in names


@pytest.mark.usefixtures("everything")
def test_a_cuda_device_takes_cublas_without_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cublas, "Device", Counterpart)
    monkeypatch.setattr(cublas, "cublas_loads", lambda: True)
    found = baselines_for(LADDER, SQUARE, device(NVIDIA), cast(Device, Counterpart(NVIDIA)))
    assert [baseline.name for baseline, _ in found] == ["NumPy", "cuBLAS", "CLBlast"]
    assert found[1][0] is cublas.BASELINES[0]


@dataclass
class Counterpart:
    info: DeviceInfo


def test_every_file_of_a_library_is_in_the_list() -> None:
    files = {path.stem for path in Path(baselines.__file__).parent.glob("*.py")} - {"__init__", "registry"}
    assert {library.__name__.rsplit(".", 1)[1] for library in registry.LIBRARIES} == files


@dataclass
class Atlas:
    """A library in this process."""

    arrays: Arrays
    lesson: str = "ATLAS 3.10"
    log: list[str] = field(default_factory=list)

    def run(self) -> Times:
        return Times(0.0, 1.0)

    def sustain(self, seconds: float) -> Work:
        return Work(seconds, 1)

    def result(self) -> np.ndarray:
        product: np.ndarray = self.arrays["A"] @ self.arrays["B"]
        return product

    def close(self) -> None:
        self.log.append("closed")


def entry(make: Callable[[Request, Arrays], baselines.ReadyBaseline]) -> SimpleNamespace:
    return SimpleNamespace(BASELINES=(Baseline("ATLAS", "host", lambda case: True, make),))


def test_a_new_baseline_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Atlas] = []

    def make(case: Request, arrays: Arrays) -> Atlas:
        made.append(Atlas(arrays))
        return made[-1]

    def missing(case: Request, arrays: Arrays) -> Atlas:
        raise OSError("no ATLAS today")

    monkeypatch.setattr(registry, "LIBRARIES", (entry(make), entry(missing)))
    with ExitStack() as stack:
        right, absent = CaseBuilder(device(CPU), "float32").baseline_cases(LIBRARY, SQUARE, stack)
    assert made[0].log == ["closed"]
    assert (right.row.name, right.row.role, right.row.backend, right.row.lesson) == (
        "ATLAS", Role.BASELINE, "host", "ATLAS 3.10",
    )  # fmt: skip
    assert right.workload is made[0]
    assert (absent.row.status, absent.row.reason) == (RowStatus.LAUNCH_FAILED, "no ATLAS today")
