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

from ..dtypes import numpy_dtype
from ..errors import ProcessFailed
from ..problem import Problem, inputs_of, output_of
from ..run import Times, Work

BLAS_SETTINGS = ("OPENBLAS_", "GOTO_", "MKL_", "BLIS_", "OMP_", "KMP_", "NVPL_", "VECLIB_")
SPIN_S = 0.5  # what the threads of a BLAS may spin after a call, where a process cannot be stopped meanwhile


def clean_environment() -> dict[str, str]:
    """This process's environment without the variables that steer a BLAS."""
    return {name: value for name, value in os.environ.items() if not name.startswith(BLAS_SETTINGS)}


# Children that take seconds to start are kept for the next problem; each by its script.
LASTING = ("cublas_child.py",)
_idle: "dict[str, subprocess.Popen[str]]" = {}


@atexit.register
def end_idle_children() -> None:
    """End the children that wait for another problem."""
    while _idle:
        _idle.popitem()[1].communicate()


class ChildRival:
    """A library solving a problem in a child process: the same arrays, the result read back for verification.

    `script` is the child's file name, `arguments` follow the folder's name, and `environment` is added to the clean one.
    ProcessFailed, with the child's own words, if it dies.
    """

    def __init__(
        self,
        script: str,
        problem: Problem,
        arrays: Mapping[str, np.ndarray],
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tilewright-")
        folder = Path(self._folder.name)
        settings = {
            "operation": problem.operation,
            "dtype": problem.dtype,
            "out_dtype": output_of(problem).dtype,
            "precision": getattr(problem, "precision", ""),
            "by_columns": " ".join(each.name for each in inputs_of(problem) if each.order == "column"),
        }
        (folder / "settings.json").write_text(json.dumps(settings))
        for operand in inputs_of(problem):
            array = arrays[operand.name][..., getattr(problem, "offset", 0) :]
            np.save(folder / f"{operand.name}.npy", np.swapaxes(array, -1, -2) if operand.order == "column" else array)
        self._wanted = output_of(problem)
        np.savez(folder / "output.npz", like=np.zeros(self._wanted.shape, numpy_dtype(self._wanted.dtype)))
        self._script = script
        kept = _idle.pop(script, None)
        self._process = kept or subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / script), str(folder), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean_environment(), **(environment or {})},
        )
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
        if self._script in LASTING and self._script not in _idle and self._process.poll() is None:
            _idle[self._script] = self._process
        else:
            self._process.communicate()
        self._folder.cleanup()

    def _stop(self) -> None:
        """Stop the child and wait until it has stopped. It does so only when its main thread next runs, and while others
        keep all processors busy, that is milliseconds later."""
        if not hasattr(signal, "SIGSTOP"):
            sleep(SPIN_S)
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
            code, text = self._process.wait(), self._process.stderr.read()
            raise ProcessFailed(f"the baseline {self._script} ended with status {code}: {text.strip()[-500:]}")
        return line


def numpy_rival(problem: Problem, arrays: Mapping[str, np.ndarray]) -> ChildRival:
    """NumPy with whatever BLAS it was built with."""
    return ChildRival("numpy_child.py", problem, arrays)


def cublas_rival(problem: Problem, arrays: Mapping[str, np.ndarray]) -> ChildRival:
    """NVIDIA's cuBLAS through PyTorch, timed by the device's events."""
    return ChildRival("cublas_child.py", problem, arrays)


def cublas_present() -> bool:
    """Whether PyTorch is installed; without it there is no cuBLAS to compare with."""
    return find_spec("torch") is not None
