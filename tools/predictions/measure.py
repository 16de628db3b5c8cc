"""Times and counts the kernels of a folder on an NVIDIA GPU. Needs NumPy and CuPy, and nothing of tilewright.

`python -m predictions.measure time FOLDER OUT.json` writes seconds; `python -m predictions.measure once FOLDER` launches each
kernel once, in order, for a profiler. `manifest.json` in FOLDER names machine code, geometry and arguments; `cases.py` beside
this file makes the data.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .cases import CASES, SEED

WARM, REPEATS, BURST_S = 2, 11, 0.02
FLUSH_BYTES = 512 << 20  # several times any L2


def arguments_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The arguments of one kernel, in order: arrays and NumPy scalars."""
    for case in CASES:
        if entry["case"] == case.name:
            return case.arguments()
    chance = np.random.default_rng(SEED)
    made: dict[str, Any] = {}
    for name, kind, value in entry["arguments"]:
        if kind == "buffer":
            made[name] = chance.random(value, dtype=np.float32) - np.float32(0.5)
        else:
            made[name] = np.dtype(kind).type(value)
    return made


def compiled(cupy: Any, cubin: Path, entry: str) -> Any:
    """The kernel from its machine code; compiled again if this driver cannot load that."""
    try:
        return cupy.RawModule(path=str(cubin)).get_function(entry)
    except cupy.cuda.driver.CUDADriverError as error:
        print(f"{cubin.name}: {error}; compiled here", flush=True)
        options = ("--device-as-default-execution-space", "-lineinfo")
        return cupy.RawModule(code=cubin.with_suffix(".cu").read_text(), options=options).get_function(entry)


class Loaded:
    """One kernel with its arguments on the GPU."""

    def __init__(self, cupy: Any, folder: Path, entry: dict[str, Any]) -> None:
        self.cupy, self.entry = cupy, entry
        self.function = compiled(cupy, folder / entry["cubin"], entry["entry"])
        self.host = arguments_of(entry)
        self.values = [cupy.asarray(each) if isinstance(each, np.ndarray) else each for each in self.host.values()]
        self.kept = [each.copy() if hasattr(each, "data") and entry["restore"] else None for each in self.values]

    def launch(self) -> None:
        self.function(tuple(self.entry["grid"]), tuple(self.entry["block"]), tuple(self.values))

    def restore(self) -> None:
        """Put back what a launch changed, where the next one would find other work."""
        for value, kept in zip(self.values, self.kept, strict=True):
            if kept is not None and isinstance(value, self.cupy.ndarray):
                value[...] = kept


def one_time(cupy: Any, loaded: Loaded, before: Any) -> float:
    """Seconds of one launch between two events."""
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    before()
    begin.record()
    loaded.launch()
    end.record()
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(begin, end)) * 1e-3


def burst_time(cupy: Any, loaded: Loaded, seconds: float) -> float:
    """Seconds of one launch among many back to back."""
    count = max(1, min(2000, int(BURST_S / max(seconds, 1e-6))))
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    for _ in range(count):
        loaded.launch()
    end.record()
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(begin, end)) * 1e-3 / count


def times_of(cupy: Any, loaded: Loaded, flush: Any) -> dict[str, Any]:
    for _ in range(WARM):
        loaded.launch()
    cupy.cuda.Device().synchronize()
    own = loaded.restore if loaded.entry["restore"] else lambda: None
    warm = [one_time(cupy, loaded, own) for _ in range(REPEATS)]

    def emptied() -> None:
        own()
        flush.fill(1)

    cold = [one_time(cupy, loaded, emptied) for _ in range(REPEATS)]
    burst = [] if loaded.entry["restore"] else [burst_time(cupy, loaded, min(warm)) for _ in range(3)]
    return {"warm": warm, "cold": cold, "burst": burst}


def main() -> None:
    action, folder = sys.argv[1], Path(sys.argv[2])
    cupy = importlib.import_module("cupy")
    found: dict[str, Any] = {}
    flush = cupy.zeros(FLUSH_BYTES // 4, cupy.int32) if action == "time" else None
    for entry in json.loads((folder / "manifest.json").read_text()):
        try:
            loaded = Loaded(cupy, folder, entry)
            if action == "time":
                found[entry["name"]] = times_of(cupy, loaded, flush)
                print(f"{entry['name']:48} {1e6 * float(np.median(found[entry['name']]['warm'])):12.2f} us", flush=True)
                Path(sys.argv[3]).write_text(json.dumps(found))
            else:
                loaded.launch()
                cupy.cuda.Device().synchronize()
        except cupy.cuda.driver.CUDADriverError as error:
            print(f"{entry['name']}: {error}", flush=True)
        cupy.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
