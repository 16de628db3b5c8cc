"""The child process that measures cuBLAS through PyTorch, by the device's clock.

Python's launch overhead must not count. So calls are captured in a CUDA graph, whose replay is one launch, and the time of
a replay is divided by its calls. TF32 is on only if the problem asks for it.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy_child import load, serve  # type: ignore[import-not-found]

LEAST_S = 500e-6  # of a replay, next to which the start of the graph, about 10 us, is small
MOST_CALLS = 100
WAIT_S = 0.1  # of replays between two waits in sustained work

# Types that NumPy does not have. Their arrays come as integers of their bits.
RAW = {"bfloat16": "bfloat16", "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2"}


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


def on_device(array: np.ndarray, dtype: str) -> Any:
    """The array on the GPU, in the same memory order."""
    if dtype not in RAW:
        return torch.from_numpy(array).cuda()
    bits = array.view({1: np.uint8, 2: np.int16}[array.dtype.itemsize])
    return torch.from_numpy(bits).cuda().view(getattr(torch, RAW[dtype]))


def from_device(tensor: Any, dtype: str) -> np.ndarray:
    """The tensor's elements; those of a type in RAW as integers of their bits."""
    bits = tensor.view(torch.int16 if tensor.element_size() == 2 else torch.uint8) if dtype in RAW else tensor
    result: np.ndarray = bits.cpu().numpy()
    return result


def product(settings: dict[str, str], a: Any, b: Any, output: Any) -> Callable[[], None]:
    """The call that multiplies into `output`."""
    if settings["dtype"] == "int8":
        return lambda: torch._int_mm(a, b, out=output)
    if settings["dtype"].startswith("float8"):
        one, fast = torch.ones((), device="cuda"), "fast_accumulation" in settings

        def scaled_mm() -> None:
            """cuBLAS multiplies 8-bit floats only if both operands lie along k. Others are copied first, at each call."""
            rows, columns = a.contiguous(), b.t().contiguous().t()
            torch._scaled_mm(rows, columns, one, one, out_dtype=output.dtype, out=output, use_fast_accum=fast)

        return scaled_mm
    if a.dtype == output.dtype:
        return lambda: torch.matmul(a, b, out=output)
    return lambda: torch.mm(a, b, out_dtype=output.dtype, out=output)


def work_of(settings: dict[str, str], operands: dict[str, Any], output: Any) -> Callable[[], None]:
    """What is measured. PyTorch has no in-place transpose, so a copy is made."""
    if settings["operation"] == "gemm":
        return product(settings, operands["A"], operands["B"], output)
    if settings["operation"] == "in-place transpose":
        matrix = operands["matrix"]
        return lambda: matrix.copy_(matrix.transpose(-1, -2).contiguous())
    source = operands["input"]
    if settings["operation"].endswith("transpose"):
        source = source.transpose(-1, -2)
    return lambda: output.copy_(source)


def replayed(graph: Any, seconds: float, once: float) -> tuple[float, int]:
    """Replay for at least `seconds`: the device's seconds, and the number of replays."""
    together, passed, replays = max(1, round(WAIT_S / once)), 0.0, 0

    def some() -> None:
        for _ in range(together):
            graph.replay()

    while passed < seconds:
        passed += timed(some)
        replays += together
    return passed, replays


def solve(folder: Path) -> Path | None:
    """Serve one problem. The result is the next one's folder, or None."""
    torch.cuda.empty_cache()
    settings, inputs, like = load(folder)
    torch.backends.cuda.matmul.allow_tf32 = settings["precision"] == "tf32"
    operands = {name: on_device(array, settings["dtype"]) for name, array in inputs.items()}
    output = on_device(like, settings["out_dtype"])
    compute = work_of(settings, operands, output)
    result = operands.get("matrix", output)

    def save() -> None:
        np.save(folder / "result.npy", from_device(result, settings["out_dtype"]))

    compute()
    torch.cuda.synchronize()
    if "matrix" in operands:  # the result of one call: the next in-place transpose undoes it
        save()
    for _ in range(3):
        compute()
    torch.cuda.synchronize()
    once = captured(compute, 1)
    calls = max(1, min(MOST_CALLS, round(LEAST_S / min(timed(once.replay) for _ in range(5)))))
    graph = captured(compute, calls)
    facts = {"library": f"PyTorch {torch.__version__}", "blas": f"cuBLAS of CUDA {torch.version.cuda}"}
    if settings["dtype"].startswith("float8"):
        facts["library"] += f" with use_fast_accum={'fast_accumulation' in settings}"
    facts |= {"core": torch.cuda.get_device_name(), "threads": "no"}

    def sustain(seconds: float) -> tuple[float, int]:
        passed, replays = replayed(graph, seconds, timed(graph.replay))
        return passed, replays * calls

    following: Path | None = serve(
        facts, lambda: timed(graph.replay) / calls, (lambda: None) if "matrix" in operands else save, sustain
    )
    return following


def main(first: Path) -> None:
    folder: Path | None = first
    while folder is not None:
        folder = solve(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
