"""The child process that measures NumPy. It runs as a script, so that it imports nothing but NumPy.

The child first prints a JSON line about the library. Then it answers each line of the parent by one line:
"run" by the seconds of one call, "sustain SECONDS" by the seconds and calls of work without a pause, "save" by "saved".
"next FOLDER" starts another problem. The end of input ends the child.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

SHORT = ("float16", "bfloat16")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")


def blas_facts() -> dict[str, str]:
    """NumPy's version, and the BLAS, core type and thread count that threadpoolctl reports."""
    facts = {"library": f"NumPy {np.__version__}", "blas": "unknown BLAS", "core": "unknown", "threads": "?"}
    try:
        from threadpoolctl import threadpool_info

        loaded = threadpool_info()
    except (ImportError, OSError):  # an OSError without /proc
        return facts
    for library in loaded:
        if library["user_api"] == "blas":
            facts |= {
                "blas": f"{library['internal_api']} {library['version']}",
                "core": str(library.get("architecture", "unknown")),
                "threads": str(library["num_threads"]),
            }
    return facts


def load(folder: Path) -> tuple[dict[str, str], dict[str, np.ndarray], np.ndarray]:
    """The settings, the inputs by name, and an array for the result, from the parent's files."""
    settings = json.loads((folder / "settings.json").read_text())
    inputs = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    for name in settings["by_columns"].split():  # they were saved as their transposes
        inputs[name] = np.swapaxes(inputs[name], -1, -2)
    return settings, inputs, np.load(folder / "output.npz")["like"]


def converted(array: np.ndarray, dtype: str) -> np.ndarray:
    """An 8- or 16-bit float converted to float32, which NumPy multiplies fast. All but float16 come as integers of their
    bits. bfloat16 is the upper half of a float32, and e5m2 that of a float16. e4m3 has a float16's bits one place lower,
    with a bias of 7 instead of 15."""
    if dtype == "float16":
        return array.astype(np.float32)
    if dtype in FLOAT8:
        short = array.view(np.uint8).astype(np.uint16)
        if dtype == "float8_e5m2":
            return (short << 8).view(np.float16).astype(np.float32)
        values = ((short & 0x7F) << 7 | (short & 0x80) << 8).view(np.float16) * np.float32(256)
        return np.where(short & 0x7F == 0x7F, np.float32(np.nan), values)
    bits = array.view(np.uint16).astype(np.uint32) << 16
    return bits.view(np.float32)


def rounded(array: np.ndarray, dtype: str) -> np.ndarray:
    """float32 rounded to nearest, ties to even, to float16 or bfloat16; bfloat16 as integers of its bits."""
    if dtype in ("float16", "float32"):
        return array.astype(dtype)
    bits = array.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


BRIEF_S = 500e-6  # shorter calls are repeated this long for one time, as the parent's are


def timer(compute: Callable[[], object]) -> Callable[[], float]:
    """Gives the seconds of one call, the mean of so many as last took BRIEF_S."""
    calls = 1

    def run() -> float:
        nonlocal calls
        begin = perf_counter()
        for _ in range(calls):
            compute()
        found = (perf_counter() - begin) / calls
        calls = max(1, int(BRIEF_S / found)) if found else 1
        return found

    return run


def one_after_the_other(run: Callable[[], float], seconds: float) -> tuple[float, int]:
    """Call for at least `seconds`: the seconds, and the number of calls."""
    begin, calls = perf_counter(), 0
    while (passed := perf_counter() - begin) < seconds or not calls:
        run()
        calls += 1
    return passed, calls


def serve(
    facts: dict[str, str],
    run: Callable[[], float],
    save: Callable[[], None],
    sustain: Callable[[float], tuple[float, int]],
) -> Path | None:
    """Answer the parent's lines. The result is the next problem's folder, or None at the end of input."""
    print(json.dumps(facts), flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "save":
            save()
            print("saved", flush=True)
        elif word == "next":
            return Path(rest[0])
        elif word == "sustain":
            passed, calls = sustain(float(rest[0]))
            print(json.dumps({"seconds": passed, "calls": calls}), flush=True)
        else:
            print(run(), flush=True)
    return None


def compute_of(operation: str, inputs: dict[str, np.ndarray], output: np.ndarray) -> Callable[[], object]:
    """NumPy's call, with as little Python around it as around the library's."""
    if operation == "gemm":
        a, b = inputs["A"], inputs["B"]
        wider = {"dtype": output.dtype} if output.dtype != a.dtype else {}  # int8 would wrap
        return partial(np.matmul, a, b, output, **wider)
    if operation == "in-place transpose":
        matrix = inputs["matrix"]
        return lambda: np.copyto(matrix, np.swapaxes(matrix, -1, -2).copy())
    source = inputs["input"]
    return partial(np.copyto, output, np.swapaxes(source, -1, -2) if operation.endswith("transpose") else source)


def main(folder: Path) -> None:
    settings, inputs, output = load(folder)
    operation, read, stored = settings["operation"], settings["dtype"], settings["out_dtype"]
    short = operation == "gemm" and (read in FLOAT8 or (read in SHORT and read == stored))
    if short:  # as a user would do: NumPy has no fast product of these
        inputs = {name: converted(array, read) for name, array in inputs.items()}
        output = np.zeros(output.shape, np.float32)

    run = timer(compute_of(operation, inputs, output))
    result = inputs.get("matrix", output)
    facts = blas_facts()
    serve(
        facts | ({"library": f"{facts['library']} in float32"} if short else {}),
        run,
        lambda: np.save(folder / "result.npy", rounded(result, stored) if short else result),
        lambda seconds: one_after_the_other(run, seconds),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
