"""The child process in which NumPy is measured; run as a script, so that it imports nothing but NumPy.

Protocol, one line each way: the parent writes "run" and reads the seconds of one product; "save" and reads "saved";
end of input ends the child. The first line that the child writes is JSON about the library that it measures.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np


def blas_facts() -> dict[str, str]:
    """NumPy's version, and the BLAS, core type and thread count that threadpoolctl reports."""
    facts = {"library": f"NumPy {np.__version__}", "blas": "unknown BLAS", "core": "unknown", "threads": "?"}
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return facts
    for library in threadpool_info():
        if library["user_api"] == "blas":
            facts |= {
                "blas": f"{library['internal_api']} {library['version']}",
                "core": str(library.get("architecture", "unknown")),
                "threads": str(library["num_threads"]),
            }
    return facts


def load(folder: Path) -> tuple[str, dict[str, np.ndarray], np.ndarray]:
    """The operation, its inputs by name, and an array for the result, as the parent left them."""
    inputs = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    return (folder / "operation").read_text(), inputs, np.load(folder / "output.npz")["like"]


def serve(facts: dict[str, str], run: Callable[[], float], save: Callable[[], None]) -> None:
    """Answer the parent's lines until they end."""
    print(json.dumps(facts), flush=True)
    for line in sys.stdin:
        if line.strip() == "save":
            save()
            print("saved", flush=True)
        else:
            print(run(), flush=True)


def main(folder: Path) -> None:
    operation, inputs, output = load(folder)

    def compute() -> None:
        if operation == "gemm":
            np.matmul(inputs["A"], inputs["B"], out=output)
        elif operation == "transpose":
            np.copyto(output, inputs["input"].T)
        else:
            np.copyto(output, inputs["input"])

    def run() -> float:
        begin = perf_counter()
        compute()
        return perf_counter() - begin

    serve(blas_facts(), run, lambda: np.save(folder / "result.npy", output))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
