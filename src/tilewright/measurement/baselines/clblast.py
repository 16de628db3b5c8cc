"""CLBlast, the successor of clBLAS, as a baseline on any OpenCL device. It is called on our buffers and queue.

The library is searched for in the loader's path, in Python's packages and in the usual folders. Its first call compiles
its kernels for seconds, and so comes before anything is timed.
"""

import ctypes
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np
import pyopencl as cl

from ...core.problem import Arrays, Gemm, Problem, Transpose, inputs_of, output_of
from ...core.types import numpy_dtype
from ...errors import LaunchFailed, Unsupported
from ...runtime.fences import POISON
from ...runtime.libraries import USUAL_FOLDERS, files_in
from ...runtime.opencl.device import Device
from ...runtime.run import WAIT_S, Times, Work
from ..measure import BURST_S, MOST_CALLS
from . import Baseline, Measurement, Request

ROW_MAJOR, NOT_TRANSPOSED, TRANSPOSED = 101, 111, 112  # of clblast_c.h
PREFIXES = {"float32": "S", "float64": "D"}
NAMES = ("libclblast.so.1", "libclblast.so", "libclblast.dylib", "clblast.dll")


def places() -> Iterator[str]:
    """Where the library may be, the loader's own path first."""
    yield from NAMES
    packages = Path(sysconfig.get_path("platlib"))
    yield from (str(path) for path in sorted(packages.glob("*clblast*/*clblast*")) if ".so" in path.name)
    yield from map(str, files_in(USUAL_FOLDERS, NAMES))


@cache
def library() -> ctypes.CDLL | None:
    """CLBlast, or None where it is not installed or its own libraries are missing."""
    for place in places():
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    return None


class CLBlastBaseline:
    """A matrix product, transpose or copy by CLBlast. Unsupported if it has no such routine.

    On a GPU it runs in bursts between two marks of the device's clock, behind an untimed call, so that the host's part is
    hidden as it is for a caller who does not wait. On a CPU it is timed by the host's clock, one call at a time.
    """

    def __init__(self, problem: Problem, arrays: Mapping[str, np.ndarray], device: Device) -> None:
        self._problem = problem
        self._device = device
        self._call, self._name = prepare(problem)
        self._buffers = [device.allocate(each.nbytes) for each in problem.operands]
        for buffer, operand in zip(self._buffers, inputs_of(problem), strict=False):
            device.write(buffer, operand.flatten(arrays[operand.name]))
        device.fill(self._buffers[-1], POISON, 0, output_of(problem).nbytes)
        device.finish("CLBlast's operands")
        self._in_bursts = device.info.kind == "gpu"
        self._burst(1)
        once = self._burst(1).wall_s
        self._calls = max(1, min(MOST_CALLS, round(BURST_S / once))) if self._in_bursts else 1

    @property
    def lesson(self) -> str:
        tuned = "untuned" if self._device.info.kind == "cpu" else "with the parameters of its own database"
        times = f", {self._calls} calls at a time" if self._calls > 1 else ""
        return f"CLBlast's {self._name} on {self._device.info.label}, {tuned}{times}"

    def run(self) -> Times:
        return self._burst(self._calls)

    def sustain(self, seconds: float) -> Work:
        """Calls for at least `seconds`; the host waits for the device now and then."""
        once = max(self._burst(1).wall_s, 1e-6)
        together = max(1, round(WAIT_S / once))
        begin, calls = perf_counter(), 0
        while (passed := perf_counter() - begin) < seconds or not calls:
            for _ in range(together):
                self._enqueue()
            self._device.finish(self._name)
            calls += together
        return Work(passed, calls)

    def result(self) -> np.ndarray:
        output = output_of(self._problem)
        return output.unflatten(self._device.read(self._buffers[-1], output.elements, numpy_dtype(output.dtype)))

    def close(self) -> None:
        for buffer in self._buffers:
            buffer.release()

    def _burst(self, calls: int) -> Times:
        """The mean time of several calls back to back. A call may wait for the previous one, so all of them count."""
        begin = perf_counter()
        if self._in_bursts:
            self._enqueue()
        first = cl.enqueue_marker(self._device.queue)
        for _ in range(calls):
            self._enqueue()
        last = cl.enqueue_marker(self._device.queue)
        self._device.finish(self._name)
        wall = (perf_counter() - begin) / (calls + self._in_bursts)
        return Times((last.profile.end - first.profile.end) * 1e-9 / calls if self._in_bursts else 0.0, wall)

    def _enqueue(self) -> None:
        queue = ctypes.c_void_p(self._device.queue.int_ptr)
        memory = [ctypes.c_void_p(buffer.int_ptr) for buffer in self._buffers]
        status = self._call(memory, ctypes.byref(queue))
        if status:
            raise LaunchFailed(f"CLBlast's {self._name} returned {status} for {self._problem.title}", status)


def clblast_present() -> bool:
    """Whether CLBlast can be loaded. Otherwise it has no row."""
    return library() is not None


def is_for(request: Request) -> bool:
    """Whether it is measured: in ladders and benchmarks of the library, on every OpenCL device."""
    return request.measurement is not Measurement.ACCURACY and isinstance(request.device, Device) and clblast_present()


def made(request: Request, arrays: Arrays) -> CLBlastBaseline:
    """CLBlast on the request's OpenCL device."""
    assert isinstance(request.device, Device)
    return CLBlastBaseline(request.problem, arrays, request.device)


BASELINES = (Baseline("CLBlast", "opencl", is_for, made),)
Call = Callable[[list[ctypes.c_void_p], object], int]


def prepare(problem: Problem) -> tuple[Call, str]:
    """The call that enqueues a problem on (its buffers, a pointer to a queue), and the routine's name."""
    if problem.dtype not in PREFIXES:
        raise Unsupported(f"CLBlast is called for {' and '.join(PREFIXES)} here, not for {problem.dtype}")
    if type(problem) is Gemm:  # not a product of any strides
        return _product(problem)
    if isinstance(problem, Transpose) and problem.batch == 1:
        return _move(problem)
    raise Unsupported(f"CLBlast has no routine for {problem.title}")


def _scalar(dtype: str, value: complex) -> ctypes.c_float | ctypes.c_double:
    return (ctypes.c_float if dtype == "float32" else ctypes.c_double)(value.real)


def _product(problem: Gemm) -> tuple[Call, str]:
    if problem.c_order != "row" or (problem.out_dtype or problem.dtype) != problem.dtype:
        raise Unsupported(
            f"CLBlast is called for products with C in rows, of its operands' type, not for {problem.title}"
        )
    m, n, k = problem.m, problem.n, problem.k
    many = problem.batch != 1
    name = f"{PREFIXES[problem.dtype]}gemm" + ("StridedBatched" if many else "")
    routine = getattr(library(), f"CLBlast{name}")
    size, none = ctypes.c_size_t, ctypes.c_size_t(0)
    alpha, beta = _scalar(problem.dtype, problem.alpha), _scalar(problem.dtype, problem.beta)
    a = (NOT_TRANSPOSED, size(max(k, 1))) if problem.a_order == "row" else (TRANSPOSED, size(max(m, 1)))
    b = (NOT_TRANSPOSED, size(max(n, 1))) if problem.b_order == "row" else (TRANSPOSED, size(max(k, 1)))

    apart = [(size(step),) if many else () for step in (m * k, k * n, m * n)]
    count = (size(problem.batch),) if many else ()

    def call(memory: list[ctypes.c_void_p], queue: object) -> int:
        return int(
            routine(ROW_MAJOR, a[0], b[0], size(m), size(n), size(k), alpha, memory[0], none, a[1], *apart[0],
                    memory[1], none, b[1], *apart[1], beta, memory[2], none, size(max(n, 1)), *apart[2], *count,
                    queue, None)
        )  # fmt: skip

    return call, name


def _move(problem: Transpose) -> tuple[Call, str]:
    """Omatcopy; a plain copy is one that does not transpose."""
    rows, columns = problem.rows, problem.kept
    turned = problem.operation == "transpose"
    name = f"{PREFIXES[problem.dtype]}omatcopy"
    routine = getattr(library(), f"CLBlast{name}")
    size, alpha = ctypes.c_size_t, _scalar(problem.dtype, 1.0)

    def call(memory: list[ctypes.c_void_p], queue: object) -> int:
        return int(
            routine(ROW_MAJOR, TRANSPOSED if turned else NOT_TRANSPOSED, size(rows), size(columns), alpha,
                    memory[0], size(problem.offset), size(problem.columns),
                    memory[1], size(0), size(rows if turned else columns), queue, None)
        )  # fmt: skip

    return call, name
