"""NumPy as a baseline, in a child process without BLAS settings in its environment: inherited ones can halve it."""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import sleep

import numpy as np

from ...core.problem import Gemm, Problem, inputs_of, offset_of, output_of, precision_of
from ...core.types import FLOAT8, FROM_ML_DTYPES, element_type, numpy_dtype
from ...errors import ProcessFailed, Unsupported
from ...runtime.children import ending_of, started
from ...runtime.run import Times, Work
from . import Baseline, Measurement, Request, cublas

BLAS_SETTINGS = ("OPENBLAS_", "GOTO_", "MKL_", "BLIS_", "OMP_", "KMP_", "NVPL_", "VECLIB_")
NUMPY_FLOPS = 2**25  # beyond this NumPy takes minutes for what no BLAS multiplies: it multiplies halves one at a time
SPIN_S = 0.5  # what the threads of a BLAS may spin after a call, where a process cannot be stopped meanwhile


def clean_environment() -> dict[str, str]:
    """This process's environment without the variables that steer a BLAS."""
    return {name: value for name, value in os.environ.items() if not name.startswith(BLAS_SETTINGS)}


def loadable(array: np.ndarray) -> np.ndarray:
    """The array, as integers of its bits if its type is one that NumPy alone cannot load."""
    return array.view(f"u{array.itemsize}") if array.dtype.name in FROM_ML_DTYPES else array


# Children that take seconds to start are kept for the next problem; each by its script.
LASTING = ("cublas_child.py",)
MOST_IDLE = 2  # of each script: as many as take part in one race
_idle: "dict[str, list[subprocess.Popen[str]]]" = {}


@atexit.register
def end_idle_children() -> None:
    """End the children that wait for another problem."""
    while _idle:
        for process in _idle.popitem()[1]:
            process.communicate()


class ChildBaseline:
    """A library solving a problem in a child process: the same arrays, the result read back for verification.

    `script` is the child's file name, `arguments` follow the folder's name, `environment` is added to the clean one, and
    `wishes` to what the child is told of the problem.
    ProcessFailed, with the child's own words, if it dies.
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
        self._script = script
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

    def run(self) -> Times:
        """One product; the child's own clock. Between its turns the child is stopped: the threads of a BLAS spin after
        a call, and would take a core from whoever is measured next."""
        self._awake()
        seconds = float(self._ask("run"))
        self._stop()
        return Times(0.0, seconds)

    def sustain(self, seconds: float) -> Work:
        """Products without pause for at least `seconds`."""
        self._awake()
        answer = json.loads(self._ask(f"sustain {seconds}"))
        self._stop()
        return Work(answer["seconds"], answer["calls"])

    def result(self) -> np.ndarray:
        """What the last product gave. Types that NumPy does not know by itself come back as bytes."""
        self._awake()
        self._ask("save")
        result: np.ndarray = np.load(Path(self._folder.name) / "result.npy")
        return result.view(numpy_dtype(self._wanted.dtype))

    def close(self) -> None:
        """End the child, or keep it for the next problem, and remove its files."""
        self._awake()
        idle = _idle.setdefault(self._script, [])
        if self._script in LASTING and len(idle) < MOST_IDLE and self._process.poll() is None:
            idle.append(self._process)
        else:
            self._process.communicate()
        self._folder.cleanup()

    def _stop(self) -> None:
        """Stop the child and wait until it has stopped. It does so only when its main thread next runs, and while others
        keep all processors busy, that is milliseconds later."""
        if not hasattr(signal, "SIGSTOP"):
            sleep(SPIN_S)
            return
        if self._process.poll() is not None:  # killed after its answer: the next question will find it so
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
            pass  # the child is gone; reading its answer tells why
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        line = self._process.stdout.readline()
        if not line:
            ending, text = ending_of(self._process.wait()), self._process.stderr.read().strip()[-500:]
            if not text and ending == "killed by SIGKILL":
                text = "somebody did, or the system for want of memory"
            raise ProcessFailed(f"the baseline {self._script} ended early ({ending or 'exit code 0'}): {text}")
        return line


def numpy_baseline(problem: Problem, arrays: Mapping[str, np.ndarray]) -> ChildBaseline:
    """NumPy with whatever BLAS it was built with."""
    return ChildBaseline("numpy_child.py", problem, arrays)


def cublas_baseline(
    problem: Problem, arrays: Mapping[str, np.ndarray], fast_accumulation: bool = False
) -> ChildBaseline:
    """NVIDIA's cuBLAS through PyTorch, timed by the device's events. With `fast_accumulation` it sums 8-bit floats in the
    tensor cores alone, with 13 bits however long the sums are. Unsupported for products that it does not know."""
    refusal = cublas_refusal(problem)
    if refusal:
        raise Unsupported(refusal)
    wishes = {"fast_accumulation": "yes"} if fast_accumulation else {}
    return ChildBaseline("cublas_child.py", problem, arrays, wishes=wishes)


def cublas_refusal(problem: Problem) -> str:
    """Why cuBLAS, as PyTorch calls it, cannot multiply these; "" if it can, and for all but products."""
    if isinstance(problem, Gemm) and problem.dtype == "int32":
        return "cuBLAS multiplies no integers of 32 bits"
    if not isinstance(problem, Gemm) or problem.dtype not in FLOAT8:
        return ""
    if problem.dtype != "float8_e4m3fn":
        return f"cuBLAS multiplies no two matrices of {problem.dtype}"
    if problem.batch != 1:
        return f"PyTorch lets cuBLAS do one product of 8-bit floats at a time, not {problem.batch}"
    if problem.n % 16 or problem.k % 16:
        return f"cuBLAS multiplies 8-bit floats whose N and K are multiples of 16, not {problem.n} and {problem.k}"
    return ""


def cublas_present() -> bool:
    """Whether PyTorch is installed."""
    return find_spec("torch") is not None


def by_pytorch(request: Request) -> bool:
    """Whether PyTorch's cuBLAS is measured in a request: a CUDA device of our own takes cuBLAS without PyTorch in a ladder."""
    if "nvidia" not in request.device.info.features or not cublas_present():
        return False
    if request.measurement is Measurement.LADDER:
        return not cublas.is_for(request)
    return request.measurement is Measurement.LIBRARY or in_its_precision(request)


def in_its_precision(request: Request) -> bool:
    """Whether cuBLAS multiplies as is asked for: it has no exact sums of 8-bit floats, and no float32 by halves."""
    if request.precision == "fp8":
        return not cublas_refusal(request.problem)
    return request.problem.dtype == "float32" and request.precision != "fp32_split"


def by_numpy(request: Request) -> bool:
    """Whether NumPy is measured: always in ladders, but for what takes it minutes, and otherwise where PyTorch is not."""
    if request.measurement is Measurement.LADDER:
        return element_type(request.problem.dtype).itemsize >= 4 or request.problem.flops <= NUMPY_FLOPS
    on_gpu = "nvidia" in request.device.info.features and cublas_present()
    return not on_gpu and not (request.measurement is Measurement.ACCURACY and request.precision)


def fast_accumulation(request: Request) -> bool:
    """Whether cuBLAS has a second way of multiplying what is asked for."""
    return request.precision == "fp8" and by_pytorch(request)


def called_pytorch(request: Request) -> bool:
    """Whether a row says PyTorch: copies and transposes in ladders are none of cuBLAS's."""
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
