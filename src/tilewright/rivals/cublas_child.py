"""The child process in which NVIDIA's library is measured, through CuPy, on the device's own clock."""

import sys
from pathlib import Path

import cupy  # type: ignore[import-not-found]
import numpy as np
from numpy_child import load, serve  # type: ignore[import-not-found]


def main(folder: Path) -> None:
    operation, inputs, like = load(folder)
    operands = {name: cupy.asarray(array) for name, array in inputs.items()}
    output = cupy.empty(like.shape, like.dtype)
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()

    def run() -> float:
        begin.record()
        if operation == "gemm":
            cupy.matmul(operands["A"], operands["B"], out=output)
        elif operation == "transpose":
            cupy.copyto(output, operands["input"].T)
        else:
            cupy.copyto(output, operands["input"])
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(begin, end)) * 1e-3

    version = cupy.cuda.cublas.getVersion(cupy.cuda.device.get_cublas_handle())
    facts = {"library": f"CuPy {cupy.__version__}", "blas": f"cuBLAS {version}", "core": "device", "threads": "-"}
    serve(facts, run, lambda: np.save(folder / "result.npy", cupy.asnumpy(output)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
