"""cuBLAS as a baseline where the CUDA backend is open. It is called by ctypes on our buffers and stream, without PyTorch.

The library is found by cuda-pathfinder: among Python's packages, in CUDA's toolkit, or where the loader looks.
"""

import ctypes
from collections.abc import Callable, Mapping
from functools import cache
from time import perf_counter

import numpy as np

from ...core.problem import Arrays, Gemm, Problem, Transpose, inputs_of, output_of
from ...core.types import numpy_dtype
from ...errors import LaunchFailed, Unsupported
from ...runtime.cuda.device import Device
from ...runtime.cuda.programs import Buffer
from ...runtime.fences import POISON
from ...runtime.libraries import toolkit_library
from ...runtime.run import Times, Work
from ..measure import BURST_S, MOST_CALLS, repeated
from . import Baseline, Measurement, Request

PREFIXES = {"float32": "S", "float64": "D"}
AS_IT_IS, TRANSPOSED = 0, 1  # cublasOperation_t
Call = Callable[[list[ctypes.c_void_p]], int]


@cache
def library() -> ctypes.CDLL | None:
    """cuBLAS, or None where it is not installed."""
    path = toolkit_library("cublas")
    try:
        return ctypes.CDLL(path) if path else None
    except OSError:  # a library that does not load
        return None


def cublas_loads() -> bool:
    """Whether cuBLAS can be called without PyTorch."""
    return library() is not None


@cache
def handle_for(device: Device) -> ctypes.c_void_p:
    """cuBLAS's handle for a device's stream."""
    own = library()
    assert own is not None
    handle = ctypes.c_void_p()
    with device.current():
        for name, arguments in (
            ("cublasCreate_v2", (ctypes.byref(handle),)),
            ("cublasSetStream_v2", (handle, ctypes.c_void_p(device.stream))),
        ):
            status = getattr(own, name)(*arguments)
            if status:
                raise LaunchFailed(f"{name} returned {status}", status)
    return handle


class CublasBaseline:
    """A product, transpose or copy by cuBLAS, in bursts timed by the device. Unsupported if it is not called for it."""

    def __init__(self, problem: Problem, arrays: Mapping[str, np.ndarray], device: Device) -> None:
        self._problem = problem
        self._device = device
        self._call, self._name = prepare(problem, handle_for(device))
        self._buffers: list[Buffer] = [device.allocate(each.nbytes) for each in problem.operands]
        for buffer, operand in zip(self._buffers, inputs_of(problem), strict=False):
            device.write(buffer, operand.flatten(arrays[operand.name]))
        device.fill(self._buffers[-1], POISON, 0, output_of(problem).nbytes)
        self._memory = [ctypes.c_void_p(buffer.pointer) for buffer in self._buffers]
        with device.current():
            self._enqueue()
        device.finish(self._name)
        once = device.timed(self._enqueue, self._name)
        self._calls = max(1, min(MOST_CALLS, round(BURST_S / once)))

    @property
    def lesson(self) -> str:
        own = library()
        assert own is not None
        version = ctypes.c_int()
        own.cublasGetVersion_v2(handle_for(self._device), ctypes.byref(version))
        number = f"{version.value // 10000}.{version.value // 100 % 100}.{version.value % 100}"
        times = f", {self._calls} calls at a time" if self._calls > 1 else ""
        return f"{self._name} of cuBLAS {number}, without TF32{times}"

    def run(self) -> Times:
        """The mean time of several calls back to back."""
        begin = perf_counter()
        device_s = self._device.timed(self._burst, self._name)
        return Times(device_s / self._calls, (perf_counter() - begin) / self._calls)

    def sustain(self, seconds: float) -> Work:
        """Bursts without a pause for at least `seconds`."""
        work = repeated(self, seconds)
        return Work(work.seconds, work.calls * self._calls)

    def result(self) -> np.ndarray:
        output = output_of(self._problem)
        return output.unflatten(self._device.read(self._buffers[-1], output.elements, numpy_dtype(output.dtype)))

    def close(self) -> None:
        """The device frees buffers that nobody holds."""
        self._buffers, self._memory = [], []

    def _burst(self) -> None:
        for _ in range(self._calls):
            self._enqueue()

    def _enqueue(self) -> None:
        status = self._call(self._memory)
        if status:
            raise LaunchFailed(f"{self._name} returned {status} for {self._problem.title}", status)


def cuda_device(request: Request) -> Device | None:
    """The request's CUDA device."""
    return next((each for each in request.devices if isinstance(each, Device)), None)


def is_for(request: Request) -> bool:
    """Whether it is measured: in ladders with an open CUDA device. Elsewhere PyTorch calls it, for more types."""
    return request.measurement is Measurement.LADDER and cuda_device(request) is not None and cublas_loads()


def made(request: Request, arrays: Arrays) -> CublasBaseline:
    """cuBLAS on the request's CUDA device."""
    device = cuda_device(request)
    assert device is not None
    return CublasBaseline(request.problem, arrays, device)


BASELINES = (Baseline("cuBLAS", "cuda", is_for, made),)


def prepare(problem: Problem, handle: ctypes.c_void_p) -> tuple[Call, str]:
    """The call that enqueues a problem on its buffers, and the routine's name."""
    if problem.dtype not in PREFIXES:
        raise Unsupported(f"cuBLAS is called for {' and '.join(PREFIXES)} here, not for {problem.dtype}")
    if type(problem) is Gemm:
        return _product(problem, handle)
    if isinstance(problem, Transpose) and problem.batch == 1:
        return _move(problem, handle)
    raise Unsupported(f"cuBLAS has no routine for {problem.title}")


def _scalar(dtype: str, value: complex) -> ctypes.c_float | ctypes.c_double:
    return (ctypes.c_float if dtype == "float32" else ctypes.c_double)(value.real)


def _product(problem: Gemm, handle: ctypes.c_void_p) -> tuple[Call, str]:
    """cuBLAS stores by columns, and C in rows is the transpose of C by columns: it computes B^T A^T."""
    plain = problem.out_dtype in (None, problem.dtype) and not problem.precision
    if problem.batch != 1 or problem.c_order != "row" or not plain:
        raise Unsupported(f"cuBLAS is called for one product with C in rows here, not for {problem.title}")
    m, n, k = problem.m, problem.n, problem.k
    name = f"cublas{PREFIXES[problem.dtype]}gemm"
    routine = getattr(library(), f"{name}_v2")
    alpha, beta = _scalar(problem.dtype, problem.alpha), _scalar(problem.dtype, problem.beta)
    a = (AS_IT_IS, max(k, 1)) if problem.a_order == "row" else (TRANSPOSED, max(m, 1))
    b = (AS_IT_IS, max(n, 1)) if problem.b_order == "row" else (TRANSPOSED, max(k, 1))

    def call(memory: list[ctypes.c_void_p]) -> int:
        return int(
            routine(handle, b[0], a[0], n, m, k, ctypes.byref(alpha), memory[1], b[1], memory[0], a[1],
                    ctypes.byref(beta), memory[2], max(n, 1))
        )  # fmt: skip

    return call, name


def _move(problem: Transpose, handle: ctypes.c_void_p) -> tuple[Call, str]:
    """geam: 1 op(A) + 0 op(A), whose matrices by columns are the transposes of ours."""
    turned = problem.operation == "transpose"
    name = f"cublas{PREFIXES[problem.dtype]}geam"
    routine = getattr(library(), name)
    one, zero = _scalar(problem.dtype, 1.0), _scalar(problem.dtype, 0.0)
    how, shape = (TRANSPOSED, (problem.rows, problem.kept)) if turned else (AS_IT_IS, (problem.kept, problem.rows))
    skipped = problem.offset * numpy_dtype(problem.dtype).itemsize

    def call(memory: list[ctypes.c_void_p]) -> int:
        source = ctypes.c_void_p((memory[0].value or 0) + skipped)
        return int(
            routine(handle, how, how, *shape, ctypes.byref(one), source, problem.columns,
                    ctypes.byref(zero), source, problem.columns, memory[1], max(shape[0], 1))
        )  # fmt: skip

    return call, name
