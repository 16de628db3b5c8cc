"""The child process in which NVIDIA's library is measured, through CuPy, on the device's own clock.

Python's own time to launch must not count against the library: calls are captured in a graph, whose replay costs the host
one launch, and the time of a replay is divided by the calls in it.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import cupy  # type: ignore[import-not-found]
import numpy as np
from numpy_child import load, serve  # type: ignore[import-not-found]

LEAST_S = 500e-6  # of a replay: beside it the graph's own start, some 10 us, is small
MOST_CALLS = 100


def timed(stream: cupy.cuda.Stream, work: Callable[[], None]) -> float:
    """Seconds from the start of `work` on the device to its end."""
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record(stream)
    work()
    end.record(stream)
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(begin, end)) * 1e-3


def captured(stream: cupy.cuda.Stream, compute: Callable[[], None], calls: int) -> Callable[[], None]:
    """A function that replays `calls` calls on the stream."""
    stream.begin_capture()
    for _ in range(calls):
        compute()
    graph = stream.end_capture()
    return lambda: graph.launch(stream)


def main(folder: Path) -> None:
    operation, inputs, like = load(folder)
    operands = {name: cupy.asarray(array, order="A") for name, array in inputs.items()}
    output = cupy.empty(like.shape, like.dtype)

    def compute() -> None:
        if operation == "gemm":
            cupy.matmul(operands["A"], operands["B"], out=output)
        elif operation == "transpose":
            cupy.copyto(output, operands["input"].T)
        else:
            cupy.copyto(output, operands["input"])

    with cupy.cuda.Stream(non_blocking=True) as stream:
        compute()
        stream.synchronize()
        once = min(timed(stream, captured(stream, compute, 1)) for _ in range(5))
        calls = max(1, min(MOST_CALLS, round(LEAST_S / once)))
        replay = captured(stream, compute, calls)
        version = cupy.cuda.cublas.getVersion(cupy.cuda.device.get_cublas_handle())
        facts = {"library": f"CuPy {cupy.__version__}", "blas": f"cuBLAS {version}", "core": "device", "threads": "no"}
        serve(
            facts, lambda: timed(stream, replay) / calls, lambda: np.save(folder / "result.npy", cupy.asnumpy(output))
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
