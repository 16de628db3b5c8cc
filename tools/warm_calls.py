"""Compares warm calls of the library with those of an older version: `python -m tools.warm_calls --against OLDER_CHECKOUT`.

Both versions make small calls, whose kernels take negligible time, in child processes and in turns: on NumPy arrays, on
PyOpenCL arrays, on CUDA tensors where PyTorch has a GPU, by `prepare` (in versions that have it), and raw launches of the same
kernel with its buffers bound, without the library. Each child repeats every call and reports the least time. The record has the
median and the spread over the rounds, and how far each call lies above the raw launch. Without an older checkout only this
version is measured. TILEWRIGHT_DEVICE chooses the device, --arrays some kinds of arrays.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
REPETITIONS = 30
CALLS = 200  # of each repetition
TIME_LIMIT_S = 300.0
# The class that enqueues calls on NumPy's arrays, and its module: older versions have another name for it.
HOST_CLASSES = (
    ("tilewright.library.memory.host", "HostMemory"),
    ("tilewright.library.memory", "HostMemory"),
    ("tilewright.library.places", "HostPlace"),
)
# What calls on arrays of that kind are set beside.
RAW = {"NumPy": "raw launch, waited for", "PyOpenCL": "raw launch", "PyTorch": "raw launch of CUDA"}


class Case(NamedTuple):
    call: Callable[[], Any]
    arrays: str = "NumPy"
    drain: Callable[[], Any] | None = None  # waits, after the clock was read, for what the calls enqueued


def cases() -> dict[str, Case]:
    """The calls, by what they stand for: of 16 x 16 matrices."""
    x = np.random.default_rng(0).standard_normal((16, 16), np.float32)
    return numpy_cases(x) | opencl_cases(x) | cuda_cases(x)


def numpy_cases(x: np.ndarray) -> dict[str, Case]:
    """The calls on NumPy's arrays, and NumPy's own product."""
    import tilewright as tw

    named = os.environ.get("TILEWRIGHT_DEVICE") or 0
    out, stack, complex_ = x.copy(), np.stack([[x] * 3] * 4), x.astype(np.complex64)
    found = {
        "matmul": Case(lambda: tw.matmul(x, x)),
        "matmul into out": Case(lambda: tw.matmul(x, x, out)),
        "matmul of complex64": Case(lambda: tw.matmul(complex_, complex_)),
        "matmul of a stack": Case(lambda: tw.matmul(stack, stack)),
        "gemm": Case(lambda: tw.gemm(x, x, alpha=2.0, trans_b="T")),
        "gemm with c in out": Case(lambda: tw.gemm(x, x, out, beta=1.0, out=out)),
        "transpose": Case(lambda: tw.transpose(x)),
        "matmul by kernels": Case(lambda: tw.matmul(x, x, device=named)),  # on a CPU the others are NumPy's own
        "numpy.matmul": Case(lambda: np.matmul(x, x)),
    }
    if hasattr(tw, "prepare"):
        product = tw.prepare(x, x)
        found["prepared"] = Case(lambda: product(x, x))
    return found


def opencl_cases(x: np.ndarray) -> dict[str, Case]:
    """The calls on PyOpenCL's arrays, and the raw launches of their kernel that those on NumPy's arrays stand beside, too."""
    import pyopencl as cl
    from pyopencl.array import empty_like, to_device
    from pyopencl.tools import ImmediateAllocator, MemoryPool

    import tilewright as tw

    device = tw.open_device()
    queue = cl.CommandQueue(device.context)
    lent, other = to_device(queue, x), to_device(queue, x)
    pool = MemoryPool(ImmediateAllocator(queue))
    left, right = (to_device(queue, x, allocator=pool) for _ in range(2))
    target, pooled = empty_like(lent), empty_like(left)
    found = {
        "matmul, PyOpenCL": Case(lambda: tw.matmul(lent, other), "PyOpenCL", queue.finish),
        "matmul into out, PyOpenCL": Case(lambda: tw.matmul(lent, other, target), "PyOpenCL", queue.finish),
        "matmul of a pool's arrays, PyOpenCL": Case(lambda: tw.matmul(left, right), "PyOpenCL", queue.finish),
        "matmul into out of a pool, PyOpenCL": Case(lambda: tw.matmul(left, right, pooled), "PyOpenCL", queue.finish),
        "gemm into out, PyOpenCL": Case(
            lambda: tw.gemm(lent, other, alpha=2.0, trans_b="T", out=target), "PyOpenCL", queue.finish
        ),
    }
    if hasattr(tw, "prepare"):
        product = tw.prepare(lent, other)
        found |= {
            "prepared, PyOpenCL": Case(lambda: product(lent, other), "PyOpenCL", queue.finish),
            "prepared into out, PyOpenCL": Case(lambda: product(lent, other, target), "PyOpenCL", queue.finish),
        }
    launch = raw_launch(device, queue, {"A": lent.data, "B": other.data, "C": target.data})
    return found | {
        RAW["NumPy"]: Case(lambda: launch().wait()),
        RAW["PyOpenCL"]: Case(launch, "PyOpenCL", queue.finish),
    }


def cuda_cases(x: np.ndarray) -> dict[str, Case]:
    """The calls on PyTorch's tensors, beside PyTorch's own; none where it has no GPU or this version takes no tensors."""
    import tilewright as tw

    if not _is_here("torch") or not _is_here("tilewright.library.cuda_arrays"):
        return {}
    import torch

    if not torch.cuda.is_available():
        return {}
    from tilewright.runtime.cuda.opening import library_device

    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = (torch.from_numpy(x).cuda() for _ in range(2))
    out, drain = torch.empty_like(a), torch.cuda.synchronize
    product = tw.prepare(a, b, out)
    device = library_device(0)
    pointers = {"A": a.data_ptr(), "B": b.data_ptr(), "C": out.data_ptr()}
    calls: dict[str, Callable[[], Any]] = {
        "matmul, PyTorch": lambda: tw.matmul(a, b),
        "matmul into out, PyTorch": lambda: tw.matmul(a, b, out),
        "prepared into out, PyTorch": lambda: product(a, b, out),
        "torch.matmul, PyTorch": lambda: torch.matmul(a, b),
        "torch.matmul into out, PyTorch": lambda: torch.matmul(a, b, out=out),
        RAW["PyTorch"]: raw_cuda_launch(device, pointers),
    }
    return {name: Case(call, "PyTorch", drain) for name, call in calls.items()}


def raw_cuda_launch(device: Any, pointers: dict[str, int]) -> Callable[[], Any]:
    """Launches the product's kernel with its addresses set, by CUDA's driver alone."""
    import torch

    from tilewright import Gemm
    from tilewright.dispatch.choice import plan_product
    from tilewright.runtime.run import LoadedPlan

    loaded = LoadedPlan(plan_product(Gemm(16, 16, 16), device.info), device)
    (launch,) = loaded.launches
    for index, name in launch.slots:
        launch.kernel.pointer(index).value = pointers[name]
    stream = torch.cuda.current_stream().cuda_stream
    start = device.launcher(launch.kernel, launch.ndrange, launch.what, stream)
    return lambda: (loaded, start())[1]  # `loaded` stays alive


def raw_launch(device: Any, queue: Any, buffers: dict[str, Any]) -> Callable[[], Any]:
    """Enqueues the product's kernel with its buffers bound, by PyOpenCL alone."""
    import pyopencl as cl

    from tilewright import Gemm
    from tilewright.dispatch.choice import plan_product
    from tilewright.runtime.run import LoadedPlan

    loaded = LoadedPlan(plan_product(Gemm(16, 16, 16), device.info), device)
    loaded.bind(buffers)
    (launch,) = loaded.launches
    kernel, sides, group = launch.kernel, launch.ndrange.global_size, launch.ndrange.local_size
    return lambda: (loaded, cl.enqueue_nd_range_kernel(queue, kernel, sides, group))[1]  # `loaded` stays alive


def _is_here(module: str) -> bool:
    """Whether this version has the module. A parent that is no package has no modules below it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def measured(whole: bool, kinds: Sequence[str]) -> dict[str, float]:
    """Microseconds of this thread for each call on arrays of these kinds, the least of all repetitions; without `whole`, of the
    library's Python alone: nothing is enqueued then."""
    made = {name: case for name, case in cases().items() if case.arrays in kinds}
    for case in made.values():
        case.call()
    if not whole:
        module, name = next(each for each in HOST_CLASSES if _is_here(each[0]))
        getattr(import_module(module), name).run = lambda *arguments: None
        made = {name: case for name, case in made.items() if case.arrays == "NumPy" and name not in RAW.values()}
    clock = time.perf_counter if whole else time.thread_time
    found = {}
    for name, case in made.items():
        least = float("inf")
        for _ in range(REPETITIONS):
            begin = clock()
            for _ in range(CALLS):
                case.call()
            least = min(least, (clock() - begin) / CALLS)
            if case.drain is not None:
                case.drain()
        found[name] = least * 1e6
    return found


def child(checkout: Path, whole: bool, kinds: Sequence[str]) -> dict[str, float]:
    """The times of one version, in a process that imports that checkout's package and this file.

    So nothing of the package is imported at the top of this file: other versions have other modules.
    """
    from tilewright.runtime.children import run_child

    code = "import sys; sys.path.insert(0, sys.argv[1]); import importlib.util as u; "
    code += "s = u.spec_from_file_location('warm', sys.argv[2]); m = u.module_from_spec(s); s.loader.exec_module(m); "
    code += "import json; print('TIMES ' + json.dumps(m.measured(sys.argv[3] == 'True', sys.argv[4:])))"
    ended = run_child([sys.executable, "-c", code, str(checkout / "src"), __file__, str(whole), *kinds], TIME_LIMIT_S)
    line = next((each for each in ended.stdout.splitlines() if each.startswith("TIMES ")), None)
    if line is None:
        raise SystemExit(f"{checkout}: {ended.ending or 'no answer'}: {ended.telling_line()}")
    times: dict[str, float] = json.loads(line.removeprefix("TIMES "))
    return times


def commit_of(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def compared(older: Path | None, rounds: int, whole: bool, kinds: Sequence[str]) -> dict[str, Any]:
    """Both versions in turns, who begins changing: medians, spreads, and the median of the differences in each round."""
    versions = {"after": ROOT} if older is None else {"before": older, "after": ROOT}
    times: dict[str, list[dict[str, float]]] = {name: [] for name in versions}
    for number in range(rounds):
        turn = list(versions.items())
        for name, checkout in turn if number % 2 == 0 else reversed(turn):
            times[name].append(child(checkout, whole, kinds))
    rows = {}
    for call in times["after"][0]:
        row: dict[str, Any] = {}
        for name, measured_ in times.items():
            own = [each[call] for each in measured_ if call in each]
            if own:
                row |= {
                    f"{name}_us": round(median(own), 2),
                    f"{name}_spread_us": [round(min(own), 2), round(max(own), 2)],
                }
        if "before_us" in row:
            pairs = zip(times["before"], times["after"], strict=True)
            row["more_us"] = round(median(after[call] - before[call] for before, after in pairs), 2)
        raw = next((raw for kind, raw in RAW.items() if kind in call), RAW["NumPy"])
        if whole and call not in RAW.values() and raw in times["after"][0]:
            row["above_raw_us"] = round(median(each[call] - each[raw] for each in times["after"]), 2)
        rows[call] = row
    return rows


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m tools.warm_calls", description=__doc__)
    parser.add_argument("--against", type=Path, help="a checkout of the version before")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--arrays", nargs="+", choices=RAW, default=list(RAW), help="the kinds of arrays")
    options = parser.parse_args(words)
    older = options.against and options.against.resolve()
    record: dict[str, Any] = {
        "before": commit_of(older) if older else "",
        "after": commit_of(ROOT),
        "machine": machine(),
    }
    parts = (("Python alone", False), ("whole calls", True))
    for part, whole in parts if "NumPy" in options.arrays else parts[1:]:
        record[part] = compared(older, options.rounds, whole, options.arrays)
        for call, row in record[part].items():
            before = f"{row['before_us']:8.2f}" if "before_us" in row else 8 * " "
            above = f", {row['above_raw_us']:.2f} above the raw launch" if "above_raw_us" in row else ""
            print(f"{part:14} {call:28} {before} {row['after_us']:8.2f} us{above}")
    if options.record:
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """What it ran on, as records say it."""
    import msgspec

    from tilewright.runtime.environment import read_environment
    from tilewright.runtime.opencl.device import open_device

    facts: dict[str, Any] = msgspec.to_builtins(read_environment(open_device().info))
    return facts


if __name__ == "__main__":
    main()
