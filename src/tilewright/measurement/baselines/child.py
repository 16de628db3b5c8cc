"""NumPy and PyTorch's cuBLAS as baselines, in child processes. BLAS settings are removed from their environment, because
inherited ones can halve NumPy's speed."""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import sleep

import numpy as np

from ...core.problem import Gemm, Problem, inputs_of, offset_of, output_of, precision_of
from ...core.types import EXACT, FLOAT8, FROM_ML_DTYPES, element_type, numpy_dtype
from ...errors import ProcessFailed, Unsupported
from ...runtime.children import ending_of, started
from ...runtime.environment import blas_settings
from ...runtime.resting import let_threads_rest
from ...runtime.run import Times, Work
from . import Baseline, Measurement, Request, cublas

NUMPY_FLOPS = 2**25  # NumPy multiplies 16-bit floats without a BLAS, and takes minutes for more than this
SPIN_S = 0.5  # how long a BLAS's threads may spin after a call, where the process cannot be stopped


def blas_settings_words() -> str:
    """Why NumPy's products here are not those of the baselines; "" if no variable configures a BLAS."""
    settings = blas_settings()
    them = "it" if len(settings) == 1 else "them"
    what = f"unset {', '.join(settings)}: NumPy obeys {them} in this process, and the processes of the baselines do not"
    return what if settings else ""


def clean_environment() -> dict[str, str]:
    """This process's environment without the variables that configure a BLAS."""
    settings = blas_settings()
    return {name: value for name, value in os.environ.items() if name not in settings}


def loadable(array: np.ndarray) -> np.ndarray:
    """The array; as integers of its bits if NumPy alone cannot load its type."""
    return array.view(f"u{array.itemsize}") if array.dtype.name in FROM_ML_DTYPES else array


# Scripts whose children are kept for the next problem, because they take seconds to start.
LASTING = ("cublas_child.py",)
MOST_IDLE = 2  # children of each script: as many as one problem needs
_idle: "dict[str, list[subprocess.Popen[str]]]" = {}


@atexit.register
def end_idle_children() -> None:
    """End the idle children."""
    while _idle:
        for process in _idle.popitem()[1]:
            process.communicate()


class ChildBaseline:
    """A library that solves a problem in a child process, on the same arrays. Its result is read back and verified.

    `script` is the child's file name. `arguments` follow the folder's name. `environment` is added to the clean one, and
    `wishes` to the problem's settings. ProcessFailed, with the child's last output, if it dies.
    """

    def __init__(
        self,
        script: str,
        problem: Problem,
        arrays: Mapping[str, np.ndarray],
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        wishes: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tilewright-")
        folder = Path(self._folder.name)
        settings = {
            "operation": problem.operation,
            "dtype": problem.dtype,
            "out_dtype": output_of(problem).dtype,
            "precision": precision_of(problem),
            "by_columns": " ".join(each.name for each in inputs_of(problem) if each.order == "column"),
            **(wishes or {}),
        }
        (folder / "settings.json").write_text(json.dumps(settings))
        for operand in inputs_of(problem):
            array = loadable(arrays[operand.name])[..., offset_of(problem) :]
            saved = np.swapaxes(array, -1, -2) if operand.order == "column" else array
            np.save(folder / f"{operand.name}.npy", np.ascontiguousarray(saved))  # .npy files keep columns as columns
        self._wanted = output_of(problem)
        np.savez(folder / "output.npz", like=loadable(np.zeros(self._wanted.shape, numpy_dtype(self._wanted.dtype))))
        self._script, self._has_turn = script, False
        idle = _idle.get(script)
        kept = idle.pop() if idle else None
        self._process = kept or subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "children" / script), str(folder), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean_environment(), **(environment or {})},
        )
        started(self._process, self._folder.name)
        self.facts: dict[str, str] = json.loads(self._ask(f"next {folder}") if kept else self._answer())

    @property
    def lesson(self) -> str:
        facts = self.facts
        return f"{facts['library']}, {facts['blas']}, core type {facts['core']}, {facts['threads']} threads"

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The child works, and is stopped afterwards: a BLAS's threads spin after a call, and would take a core from the next
        workload. So do those of this process, which must rest before.

        Threads that were stopped as they spun may wake on one processor, and share it for milliseconds. So a turn has its
        untimed runs in it, and the child is not stopped between them and the timed one.
        """
        if self._has_turn:
            yield
            return
        let_threads_rest()
        self._awake()
        self._has_turn = True
        try:
            yield
        finally:
            self._has_turn = False
            self._stop()

    def run(self) -> Times:
        """One call, timed by the child; a turn of its own if it has none."""
        with self.turn():
            return Times(0.0, float(self._ask("run")))

    def sustain(self, seconds: float) -> Work:
        """Calls without a pause for at least `seconds`."""
        with self.turn():
            answer = json.loads(self._ask(f"sustain {seconds}"))
        return Work(answer["seconds"], answer["calls"])

    def result(self) -> np.ndarray:
        """The result of the last call. Types that NumPy does not know come back as integers of their bits."""
        self._awake()
        self._ask("save")
        result: np.ndarray = np.load(Path(self._folder.name) / "result.npy")
        return result.view(numpy_dtype(self._wanted.dtype))

    def close(self) -> None:
        """Remove the child's files, and end it or keep it for the next problem."""
        self._awake()
        idle = _idle.setdefault(self._script, [])
        if self._script in LASTING and len(idle) < MOST_IDLE and self._process.poll() is None:
            idle.append(self._process)
        else:
            self._process.communicate()
        self._folder.cleanup()

    def _stop(self) -> None:
        """Stop the child and wait until it has stopped. That takes milliseconds if its other threads keep all processors
        busy, because it stops when its main thread next runs."""
        if not hasattr(signal, "SIGSTOP"):
            sleep(SPIN_S)
            return
        if self._process.poll() is not None:  # killed after its answer: the next call reports it
            return
        self._process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self._process.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self._process.returncode = os.waitstatus_to_exitcode(status)

    def _awake(self) -> None:
        if hasattr(signal, "SIGCONT"):
            self._process.send_signal(signal.SIGCONT)

    def _ask(self, word: str) -> str:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the child is gone; _answer says why
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        line = self._process.stdout.readline()
        if not line:
            ending, text = ending_of(self._process.wait()), self._process.stderr.read().strip()[-500:]
            if not text and ending == "killed by SIGKILL":
                text = "by the system, if memory ran out, or by another process"
            raise ProcessFailed(f"the baseline process {self._script} ended early ({ending or 'exit code 0'}): {text}")
        return line


def numpy_baseline(problem: Problem, arrays: Mapping[str, np.ndarray]) -> ChildBaseline:
    """NumPy with the BLAS that it was built with."""
    return ChildBaseline("numpy_child.py", problem, arrays)


def cublas_baseline(
    problem: Problem, arrays: Mapping[str, np.ndarray], fast_accumulation: bool = False
) -> ChildBaseline:
    """cuBLAS through PyTorch, timed by the device's events. With `fast_accumulation` it sums 8-bit floats in the tensor cores
    alone, with 13 bits. Unsupported for products that it has no routine for."""
    refusal = cublas_refusal(problem)
    if refusal:
        raise Unsupported(refusal)
    wishes = {"fast_accumulation": "yes"} if fast_accumulation else {}
    return ChildBaseline("cublas_child.py", problem, arrays, wishes=wishes)


def cublas_refusal(problem: Problem) -> str:
    """Why cuBLAS cannot multiply these through PyTorch; "" if it can, and for copies and transposes."""
    if isinstance(problem, Gemm) and problem.dtype in EXACT and problem.dtype != "int8":
        return f"cuBLAS has no product of {problem.dtype}"
    if not isinstance(problem, Gemm) or problem.dtype not in FLOAT8:
        return ""
    if problem.dtype != "float8_e4m3fn":
        return f"cuBLAS has no product of two matrices of {problem.dtype}"
    if problem.batch != 1:
        return f"PyTorch has no batched product of 8-bit floats: batch={problem.batch}, not 1"
    if problem.n % 16 or problem.k % 16:
        return f"cuBLAS multiplies 8-bit floats only if N={problem.n} and K={problem.k} are multiples of 16"
    return ""


def cublas_present() -> bool:
    """Whether PyTorch is installed."""
    return find_spec("torch") is not None


def by_pytorch(request: Request) -> bool:
    """Whether cuBLAS is measured through PyTorch. In ladders an open CUDA device calls cuBLAS without PyTorch."""
    if "nvidia" not in request.device.info.features or not cublas_present():
        return False
    if request.measurement is Measurement.LADDER:
        return not cublas.is_for(request)
    return request.measurement is Measurement.LIBRARY or in_its_precision(request)


def in_its_precision(request: Request) -> bool:
    """Whether cuBLAS has the precision: it has neither exact sums of 8-bit floats nor float32 by products of fp16."""
    if request.precision == "fp8":
        return not cublas_refusal(request.problem)
    return request.problem.dtype == "float32" and request.precision != "fp32_split"


def by_numpy(request: Request) -> bool:
    """Whether NumPy is measured: in ladders unless it takes minutes, elsewhere if PyTorch is not."""
    if request.measurement is Measurement.LADDER:
        return element_type(request.problem.dtype).itemsize >= 4 or request.problem.flops <= NUMPY_FLOPS
    on_gpu = "nvidia" in request.device.info.features and cublas_present()
    return not on_gpu and not (request.measurement is Measurement.ACCURACY and request.precision)


def fast_accumulation(request: Request) -> bool:
    """Whether cuBLAS has a second mode for the product: fast accumulation."""
    return request.precision == "fp8" and by_pytorch(request)


def called_pytorch(request: Request) -> bool:
    """Whether a row is called PyTorch: its copies and transposes in ladders do not come from cuBLAS."""
    return request.measurement is Measurement.LADDER and request.problem.operation != "gemm"


BASELINES = (
    Baseline("NumPy", "host", by_numpy, lambda request, arrays: numpy_baseline(request.problem, arrays)),
    Baseline(
        "cuBLAS", "cuda", lambda request: by_pytorch(request) and not called_pytorch(request),
        lambda request, arrays: cublas_baseline(request.problem, arrays),
    ),
    Baseline(
        "PyTorch", "cuda", lambda request: by_pytorch(request) and called_pytorch(request),
        lambda request, arrays: cublas_baseline(request.problem, arrays),
    ),
    Baseline(
        "cuBLAS, fast accumulation", "cuda", fast_accumulation,
        lambda request, arrays: cublas_baseline(request.problem, arrays, fast_accumulation=True),
    ),
)  # fmt: skip
