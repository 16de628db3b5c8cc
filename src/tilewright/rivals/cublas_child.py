"""The child process in which NVIDIA's library is measured, through PyTorch, on the device's own clock.

Python's own time to launch must not count against the library: calls are captured in a CUDA graph, whose replay costs
the host one launch, and the time of a replay is divided by the calls in it. TF32 stays off: float32 means float32.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]
from numpy_child import load, serve  # type: ignore[import-not-found]

LEAST_S = 500e-6  # of a replay: beside it the graph's own start, some 10 us, is small
MOST_CALLS = 100


def timed(work: Callable[[], None]) -> float:
    """Seconds from the start of `work` on the device to its end."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1e-3


def captured(compute: Callable[[], None], calls: int) -> Any:
    """A graph of `calls` calls."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            compute()
    return graph


def main(folder: Path) -> None:
    torch.backends.cuda.matmul.allow_tf32 = False
    operation, inputs, like = load(folder)
    operands = {name: torch.from_numpy(array).cuda() for name, array in inputs.items()}
    output = torch.from_numpy(like).cuda()

    def compute() -> None:
        if operation == "gemm":
            torch.matmul(operands["A"], operands["B"], out=output)
        else:
            source = operands["input"]
            output.copy_(source.T if operation == "transpose" else source)

    for _ in range(3):
        compute()
    torch.cuda.synchronize()
    once = captured(compute, 1)
    calls = max(1, min(MOST_CALLS, round(LEAST_S / min(timed(once.replay) for _ in range(5)))))
    graph = captured(compute, calls)
    facts = {"library": f"PyTorch {torch.__version__}", "blas": f"cuBLAS of CUDA {torch.version.cuda}"}
    facts |= {"core": torch.cuda.get_device_name(), "threads": "no"}
    serve(facts, lambda: timed(graph.replay) / calls, lambda: np.save(folder / "result.npy", output.cpu().numpy()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
