"""tilewright: matrix kernels in OpenCL C for any GPU or CPU, and matmul, gemm, transpose and copy made of them.

Public are the names in `__all__`. Every module and package below is private, whatever its name.
Each public name is imported at its first use, so `import tilewright` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .analysis.explanations import WhatIf, compare_explanations, explain, what_if
    from .analysis.inspect import Inspection, inspect_kernel
    from .core.custom import custom_kernel
    from .core.kernel import Config, Kernel, Ladder, NDRange
    from .core.plan import Plan, plan_kernel
    from .core.problem import Copy, Gemm, Transpose
    from .core.records import Record, Row, load_record, save_record
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
    from .health import examine
    from .kernels import LADDERS, find_kernel, find_ladder, rung_before
    from .library.copies import copy, matrix_transpose, transpose
    from .library.products import gemm, matmul
    from .measurement.ladder_roofline import LadderRoofline, roofline_ladder
    from .measurement.ladders import run_kernel, run_ladder
    from .measurement.roofline import Roofline, roofline
    from .reports.compare import compare
    from .reports.plot import plot
    from .runtime.opencl.device import list_devices, open_device
    from .runtime.run import run_plan
    from .runtime.verify import Verdict, verify

    __version__: str

_HOMES = {
    "runtime.opencl.device": ("list_devices", "open_device"),
    "core.custom": ("custom_kernel",),
    "health": ("examine",),
    "errors": (
        "BuildFailed", "InvalidInput", "LaunchFailed", "NoDevice", "OutOfDeviceMemory", "TilewrightError",
        "UnknownName", "Unsupported", "UnsupportedType", "WrongResult",
    ),
    "analysis.explanations": ("WhatIf", "compare_explanations", "explain", "what_if"),
    "analysis.inspect": ("Inspection", "inspect_kernel"),
    "core.kernel": ("Config", "Kernel", "Ladder", "NDRange"),
    "kernels": ("LADDERS", "find_kernel", "find_ladder", "rung_before"),
    "measurement.ladders": ("run_kernel", "run_ladder"),
    "library.copies": ("copy", "matrix_transpose", "transpose"),
    "library.products": ("gemm", "matmul"),
    "core.plan": ("Plan", "plan_kernel"),
    "core.problem": ("Copy", "Gemm", "Transpose"),
    "core.records": ("Record", "Row", "load_record", "save_record"),
    "reports.compare": ("compare",),
    "reports.plot": ("plot",),
    "measurement.roofline": ("Roofline", "roofline"),
    "measurement.ladder_roofline": ("LadderRoofline", "roofline_ladder"),
    "runtime.run": ("run_plan",),
    "runtime.verify": ("Verdict", "verify"),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "LADDERS", "BuildFailed", "Config", "Copy", "Gemm", "Inspection", "InvalidInput", "Kernel", "Ladder",
    "LadderRoofline", "LaunchFailed", "NDRange", "NoDevice", "OutOfDeviceMemory", "Plan", "Record", "Roofline", "Row",
    "TilewrightError", "Transpose", "UnknownName", "Unsupported", "UnsupportedType", "Verdict", "WhatIf",
    "WrongResult", "__version__", "compare", "compare_explanations", "copy", "custom_kernel", "examine", "explain",
    "find_kernel", "find_ladder", "gemm", "inspect_kernel", "list_devices", "load_record", "matmul",
    "matrix_transpose", "open_device", "plan_kernel", "plot", "roofline", "roofline_ladder", "run_kernel", "run_ladder",
    "run_plan", "rung_before", "save_record", "transpose", "verify", "what_if",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name from its module at its first use (PEP 562)."""
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
