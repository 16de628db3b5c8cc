"""The child process that measures a CPU BLAS: it calls the C interface of gemm on NumPy's arrays."""

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy_child import load, one_after_the_other, serve, timer  # type: ignore[import-not-found]

ROW_MAJOR, NOT_TRANSPOSED, TRANSPOSED = 101, 111, 112  # of every cblas.h
THREAD_SETTERS = {"BLIS": "bli_thread_set_num_threads"}  # BLIS starts with a single thread


def facts_of(name: str, place: str) -> dict[str, str]:
    """Version, core type and threads, as threadpoolctl reports them of the library at `place`."""
    facts = {"library": name, "blas": "unknown version", "core": "unknown", "threads": "?"}
    try:
        from threadpoolctl import threadpool_info

        loaded = threadpool_info()
    except (ImportError, OSError):  # an OSError without /proc
        return facts
    for found in loaded:
        if Path(found["filepath"]).name.split(".so")[0] == Path(place).name.split(".so")[0]:
            facts |= {
                "blas": f"{found['internal_api']} {found['version']}, {found.get('threading_layer', 'its own')} threads",
                "core": str(found.get("architecture", "unknown")),
                "threads": str(found["num_threads"]),
            }
    return facts


def scalar(dtype: np.dtype, value: float) -> Any:
    """alpha or beta as the routine takes it: by value, or complex ones by address."""
    if dtype.kind == "c":
        return np.array([value], dtype).ctypes.data_as(ctypes.c_void_p)
    return (ctypes.c_float if dtype == np.float32 else ctypes.c_double)(value)


def side(matrix: np.ndarray) -> tuple[int, int]:
    """How a matrix lies in memory: transposed or not, and its leading dimension in elements."""
    item = matrix.dtype.itemsize
    if matrix.strides[-1] == item:
        return NOT_TRANSPOSED, max(1, matrix.strides[-2] // item, matrix.shape[-1])
    return TRANSPOSED, max(1, matrix.strides[-1] // item, matrix.shape[-2])


def prepared(routine: Any, integer: Any, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Callable[[], None]:
    """The call that computes c = a b."""
    (m, k), n = a.shape, b.shape[1]
    (transpose_a, lda), (transpose_b, ldb) = side(a), side(b)
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (a, b, c)]
    one, zero = scalar(c.dtype, 1.0), scalar(c.dtype, 0.0)
    sizes = [integer(each) for each in (m, n, k, lda, ldb, max(1, n))]

    def call() -> None:
        routine(
            ROW_MAJOR, transpose_a, transpose_b, *sizes[:3], one, pointers[0], sizes[3], pointers[1], sizes[4], zero, pointers[2],
            sizes[5],
        )  # fmt: skip

    return call


def usable_processors() -> int:
    """Of the affinity mask where the system has one, else of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main(folder: Path, name: str, place: str, routine: str, bits: str) -> None:
    _, inputs, output = load(folder)
    library = ctypes.CDLL(place)
    setter = THREAD_SETTERS.get(name.split()[0])
    integer = ctypes.c_int64 if bits == "64" else ctypes.c_int32
    if setter is not None:
        getattr(library, setter)(ctypes.c_int64(usable_processors()))
    multiply = getattr(library, routine)
    multiply.restype = None
    operands = (inputs["A"], inputs["B"], output)
    a, b, c = (each if each.ndim == 3 else each[None] for each in operands)
    calls = [prepared(multiply, integer, *each) for each in zip(a, b, c, strict=True)]

    def compute() -> None:
        for call in calls:
            call()

    run = timer(compute)
    run()
    serve(
        facts_of(name, place),
        run,
        lambda: np.save(folder / "result.npy", output),
        lambda seconds: one_after_the_other(run, seconds),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
