"""The fuzzer's CUDA arrays on a pretended GPU: its cases run as on a real one, but for streams and what PyTorch alone has."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pretended_cuda import PretendedArray, PretendedArrays, PretendedDevice

from tilewright.library import lookup, prepared, products
from tilewright.library.cuda_arrays import frameworks, of_others
from tilewright.library.cuda_arrays.array import CudaArray
from tilewright.library.memory import choice
from tilewright.library.memory import cuda as cuda_memory
from tilewright.runtime.opencl.device import Device, list_devices
from tools.fuzz.bench import Bench, open_bench
from tools.fuzz.cases import Case
from tools.fuzz.check import FAILED, REFUSED_WELL, RIGHT, check
from tools.fuzz.cuda_frameworks import Frameworks
from tools.fuzz.draw import Palette, draw
from tools.fuzz.memory import Geometry
from tools.fuzz.shapes import Pool

CASES, SEED = 250, 3_000
POOL = Pool(((70, 60, 129, 1), (5, 7, 40, 2), (1, 65, 30, 1)), (16, 32, 65))
TYPES = ("float32", "float16", "int32", "complex64", "bfloat16")
NOT_HERE = ("requires grad", "out requires grad", "host tensor beside cuda", "queue elsewhere", "device unknown")


class Tensor(PretendedArray):
    """A second kind, so that two stand in one call."""


class Kind(PretendedArrays):
    """The library's side of one of these kinds."""

    def __init__(self, gpu: PretendedDevice, made: type[PretendedArray]) -> None:
        super().__init__(gpu)
        self.made = made

    def read(self, value: Any, name: str, stream: int) -> CudaArray:
        """By NumPy's attributes, because CUDA's interface has no names for narrow floats."""
        strides = tuple(stride // value.dtype.itemsize for stride in value.array.strides)
        return CudaArray(self.address(value), value.shape, strides, value.dtype, 0, value)

    def read_out(self, value: Any, stream: int) -> CudaArray:
        return self.read(value, "out", stream)

    def enqueued(self, arrays: Sequence[CudaArray], stream: int, captured: bool) -> None:
        """Each launch is waited for, and nothing is freed."""

    def count(self, value: PretendedArray) -> int:
        """TypeError for an array of the other kind, because ready calls give arrays of their own."""
        if type(value) is not self.made:
            raise TypeError
        return super().count(value)

    def layout(self, value: Any) -> Any:
        return type(value) is self.made and super().layout(value)

    def result(self, array: CudaArray, stream: int) -> Any:
        return self.made(array.given.array)

    def maker(self, shape: Any, dtype: np.dtype, ordinal: int, stream: int) -> Any:
        make = super().maker(shape, dtype, ordinal, stream)
        return lambda: self.made(make().array)


class Side:
    """The fuzzer's side of one of these kinds: `tools.fuzz.cuda_frameworks.Framework`."""

    def __init__(self, gpu: PretendedDevice, made: type[PretendedArray]) -> None:
        self.gpu, self.made = gpu, made

    def staged(self, data: np.ndarray) -> tuple[Any, Any]:
        whole = np.full_like(data, 0xEE)
        self.gpu.own(whole)
        return np.array(data), self.made(whole)

    def land(self, staged: Any, whole: Any) -> None:
        whole.array[...] = staged

    def view(self, whole: Any, place: Geometry, begin: int) -> Any:
        return self.made(place.view(whole.array, begin + place.low))

    def holds(self, value: Any) -> bool:
        return type(value) is self.made

    def fetched(self, array: Any) -> np.ndarray:
        return np.array(array.array)

    def late(self) -> None:
        """There are no streams here."""

    def side(self) -> int:
        return 1

    def on(self, stream: Any) -> Any:
        return nullcontext()

    def handle(self, stream: Any) -> int:
        return 1

    def finish(self) -> None:
        """Each launch is waited for."""


@pytest.fixture
def gpu(sharing_device: Device, monkeypatch: pytest.MonkeyPatch) -> PretendedDevice:
    made = PretendedDevice(sharing_device)
    for module in (of_others, cuda_memory):
        monkeypatch.setattr(module, "library_device", lambda ordinal: made)
    monkeypatch.setattr(cuda_memory, "order_streams", lambda *given: None)
    for kind in (PretendedArray, Tensor):
        monkeypatch.setitem(frameworks._found, kind, Kind(made, kind))
    monkeypatch.setattr(choice, "MEMORIES", choice.MEMORIES.copy())
    for module in (lookup, prepared, products):
        monkeypatch.setattr(module, "MEMORIES", choice.MEMORIES)
    return made


@pytest.fixture
def bench(gpu: PretendedDevice, sharing_device: Device) -> Bench:
    opened = open_bench(str(list_devices().index(sharing_device.info)))
    made = Frameworks({"cupy": lambda: Side(gpu, PretendedArray), "torch": lambda: Side(gpu, Tensor)})
    return replace(opened, frameworks=made)


def drawn(seed: int) -> Case:
    """A case without other streams than the usual one."""
    case = draw(seed, Palette(lambda dtype, moves: POOL, ("cuda",), True, TYPES, 2**18))
    return case.but(queue=case.queue % 2)


def test_cases_of_cuda_arrays_run_on_a_pretended_gpu(bench: Bench) -> None:
    verdicts = []
    for seed in range(SEED, SEED + CASES):
        case = drawn(seed)
        if case.fault in NOT_HERE:
            continue
        outcome = check(case, bench)
        assert outcome.verdict != FAILED, (seed, outcome.reason, case)
        verdicts.append(outcome.verdict)
    assert verdicts.count(RIGHT) > 0.6 * CASES
    assert verdicts.count(REFUSED_WELL) > 0.03 * CASES


def test_a_byte_beside_an_array_of_the_gpu_is_found(bench: Bench) -> None:
    case = Case(place="cuda", m=5, n=4, k=7)
    case = case.but(a=replace(case.a, form="cupy"), b=replace(case.b, form="torch"))

    def spoils(a: Any, b: Any, **given: Any) -> Any:
        result = bench_calls["matmul"](a, b, **given)
        a.array.base[0] ^= 1
        return result

    bench_calls = bench.calls
    assert check(case, bench).verdict == RIGHT
    outcome = check(case, replace(bench, calls={**bench_calls, "matmul": spoils}))
    assert "byte -512 of the memory of a changed" in outcome.reason
