"""The child process in which NumPy is measured; run as a script, so that it imports nothing but NumPy.

Protocol, one line each way: the parent writes "run" and reads the seconds of one product; "save" and reads "saved";
end of input ends the child. The first line that the child writes is JSON about NumPy and its BLAS.
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import numpy as np


def blas_facts() -> dict[str, str]:
    """NumPy's version, and the BLAS, core type and thread count that threadpoolctl reports."""
    facts = {"numpy": np.__version__, "blas": "unknown", "core": "unknown", "threads": "?"}
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


def serve(folder: Path) -> None:
    operation = (folder / "operation").read_text()
    inputs = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    output = np.load(folder / "output.shape.npz")["like"]

    def compute() -> None:
        if operation == "gemm":
            np.matmul(inputs["A"], inputs["B"], out=output)
        elif operation == "transpose":
            np.copyto(output, inputs["input"].T)
        else:
            np.copyto(output, inputs["input"])

    print(json.dumps(blas_facts()), flush=True)
    for line in sys.stdin:
        if line.strip() == "save":
            np.save(folder / "result.npy", output)
            print("saved", flush=True)
            continue
        begin = perf_counter()
        compute()
        print(perf_counter() - begin, flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
