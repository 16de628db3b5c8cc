"""Compares warm calls of the library with those of an older version: `python -m tools.warm_calls --against OLDER_CHECKOUT`.

Both versions make small calls, whose kernels take negligible time, in child processes and in turns. Each child repeats every
call and reports the least time. The record has the median and the spread over the rounds.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

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


def cases() -> dict[str, Callable[[], Any]]:
    """The calls, by what they stand for: 16 x 16 matrices of NumPy."""
    import tilewright as tw

    x = np.random.default_rng(0).standard_normal((16, 16), np.float32)
    out, stack, complex_ = x.copy(), np.stack([[x] * 3] * 4), x.astype(np.complex64)
    return {
        "matmul": lambda: tw.matmul(x, x),
        "matmul into out": lambda: tw.matmul(x, x, out),
        "matmul of complex64": lambda: tw.matmul(complex_, complex_),
        "matmul of a stack": lambda: tw.matmul(stack, stack),
        "gemm": lambda: tw.gemm(x, x, alpha=2.0, trans_b="T"),
        "gemm with c in out": lambda: tw.gemm(x, x, out, beta=1.0, out=out),
        "transpose": lambda: tw.transpose(x),
    }


def _is_here(module: str) -> bool:
    """Whether this version has the module. A parent that is no package has no modules below it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def measured(whole: bool) -> dict[str, float]:
    """Microseconds of this thread for each call, the least of all repetitions; without `whole`, of the library's Python
    alone: nothing is enqueued then."""
    made = cases()
    for call in made.values():
        call()
    if not whole:
        module, name = next(each for each in HOST_CLASSES if _is_here(each[0]))

        getattr(import_module(module), name).run = lambda *arguments: None
    clock = time.perf_counter if whole else time.thread_time
    found = {}
    for name, call in made.items():
        least = float("inf")
        for _ in range(REPETITIONS):
            begin = clock()
            for _ in range(CALLS):
                call()
            least = min(least, (clock() - begin) / CALLS)
        found[name] = least * 1e6
    return found


def child(checkout: Path, whole: bool) -> dict[str, float]:
    """The times of one version, in a process that imports that checkout's package and this file.

    So nothing of the package is imported at the top of this file: other versions have other modules.
    """
    from tilewright.runtime.children import run_child

    code = "import sys; sys.path.insert(0, sys.argv[1]); import importlib.util as u; "
    code += "s = u.spec_from_file_location('warm', sys.argv[2]); m = u.module_from_spec(s); s.loader.exec_module(m); "
    code += "import json; print('TIMES ' + json.dumps(m.measured(sys.argv[3] == 'True')))"
    ended = run_child([sys.executable, "-c", code, str(checkout / "src"), __file__, str(whole)], TIME_LIMIT_S)
    line = next((each for each in ended.stdout.splitlines() if each.startswith("TIMES ")), None)
    if line is None:
        raise SystemExit(f"{checkout}: {ended.ending or 'no answer'}: {ended.telling_line()}")
    times: dict[str, float] = json.loads(line.removeprefix("TIMES "))
    return times


def commit_of(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def compared(older: Path, rounds: int, whole: bool) -> dict[str, Any]:
    """Both versions in turns, who begins changing: medians, spreads, and the median of the differences in each round."""
    times: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    for number in range(rounds):
        turn = [("before", older), ("after", ROOT)]
        for name, checkout in turn if number % 2 == 0 else reversed(turn):
            times[name].append(child(checkout, whole))
    rows = {}
    for call in times["after"][0]:
        before, after = ([each[call] for each in times[name]] for name in ("before", "after"))
        rows[call] = {
            "before_us": round(median(before), 2), "after_us": round(median(after), 2),
            "before_spread_us": [round(min(before), 2), round(max(before), 2)],
            "after_spread_us": [round(min(after), 2), round(max(after), 2)],
            "more_us": round(median(b - a for a, b in zip(before, after, strict=True)), 2),
        }  # fmt: skip
    return rows


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m tools.warm_calls", description=__doc__)
    parser.add_argument("--against", type=Path, required=True, help="a checkout of the version before")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args(words)
    older = options.against.resolve()
    record: dict[str, Any] = {"before": commit_of(older), "after": commit_of(ROOT), "machine": machine()}
    for part, whole in (("Python alone", False), ("whole calls", True)):
        record[part] = compared(older, options.rounds, whole)
        for call, row in record[part].items():
            print(f"{part:14} {call:22} {row['before_us']:8.2f} {row['after_us']:8.2f} us, {row['more_us']:+.2f}")
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
