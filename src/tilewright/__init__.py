"""tilewright: matrix kernels in OpenCL C, run, verified and measured on any device, and a matmul on top of them.

The names in `__all__` are the public ones. They are imported when first used, so that `import tilewright` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend.opencl import list_devices, open_device
    from .custom import custom_kernel
    from .doctor import examine
    from .errors import (
        BuildFailed,
        InvalidInput,
        LaunchFailed,
        NoDevice,
        OutOfDeviceMemory,
        TilewrightError,
        UnknownName,
        Unsupported,
        UnsupportedType,
        WrongResult,
    )
    from .explanations import WhatIf, compare_explanations, explain, what_if
    from .inspection import Inspection, inspect_kernel
    from .kernel import Config, Kernel, Ladder, NDRange
    from .kernels import LADDERS, find_kernel, find_ladder, rung_before
    from .ladders import run_kernel, run_ladder
    from .library.moves import copy, matrix_transpose, transpose
    from .library.products import gemm, matmul
    from .plan import Plan, plan_kernel
    from .problem import Copy, Gemm, Transpose
    from .records import Record, Row, load_record, save_record
    from .report.compare import compare
    from .report.plot import plot
    from .rooflines import Roofline, roofline
    from .run import solve
    from .verify import Verdict, verify

    __version__: str

_HOMES = {
    "backend.opencl": ("list_devices", "open_device"),
    "custom": ("custom_kernel",),
    "doctor": ("examine",),
    "errors": (
        "BuildFailed", "InvalidInput", "LaunchFailed", "NoDevice", "OutOfDeviceMemory", "TilewrightError",
        "UnknownName", "Unsupported", "UnsupportedType", "WrongResult",
    ),
    "explanations": ("WhatIf", "compare_explanations", "explain", "what_if"),
    "inspection": ("Inspection", "inspect_kernel"),
    "kernel": ("Config", "Kernel", "Ladder", "NDRange"),
    "kernels": ("LADDERS", "find_kernel", "find_ladder", "rung_before"),
    "ladders": ("run_kernel", "run_ladder"),
    "library.moves": ("copy", "matrix_transpose", "transpose"),
    "library.products": ("gemm", "matmul"),
    "plan": ("Plan", "plan_kernel"),
    "problem": ("Copy", "Gemm", "Transpose"),
    "records": ("Record", "Row", "load_record", "save_record"),
    "report.compare": ("compare",),
    "report.plot": ("plot",),
    "rooflines": ("Roofline", "roofline"),
    "run": ("solve",),
    "verify": ("Verdict", "verify"),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "LADDERS", "BuildFailed", "Config", "Copy", "Gemm", "Inspection", "InvalidInput", "Kernel", "Ladder",
    "LaunchFailed", "NDRange", "NoDevice", "OutOfDeviceMemory", "Plan", "Record", "Roofline", "Row",
    "TilewrightError", "Transpose", "UnknownName", "Unsupported", "UnsupportedType", "Verdict", "WhatIf",
    "WrongResult", "__version__", "compare", "compare_explanations", "copy", "custom_kernel", "examine", "explain",
    "find_kernel", "find_ladder", "gemm", "inspect_kernel", "list_devices", "load_record", "matmul",
    "matrix_transpose", "open_device", "plan_kernel", "plot", "roofline", "run_kernel", "run_ladder", "rung_before",
    "save_record", "solve", "transpose", "verify", "what_if",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first asked for (PEP 562)."""
    if name == "__version__":
        from importlib.metadata import version

        return version("tilewright")
    if name not in _HOME:
        raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
