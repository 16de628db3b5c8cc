"""tilewright: matrix kernels in OpenCL C for any GPU or CPU, and matmul, gemm, transpose and copy made of them.

Each command is the call of the same name: `tilewright ladder tiles` is `tilewright.ladder("tiles")`. `print` a result to read
it. Public are the names in `__all__`, and those of `tilewright.blocks`, `tilewright.torch`, `tilewright.dask` and
`tilewright.mpi`, which are imported on their own; the last three need PyTorch, Dask and mpi4py. Every other module and package
below is private, whatever its name.
Each public name is imported at its first use, so `import tilewright` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .advice.answer import Answer
    from .analysis.explanations import WhatIf, compare_explanations, explain, what_if
    from .analysis.inspect import Inspection, inspect
    from .analysis.predict import Prediction, Ranking, predict
    from .api.answers import why
    from .api.checking import Checked, check
    from .api.device_facts import peaks
    from .api.learning import Exercise, Exercises, Grades, Tour, classroom, exercise, grade, tour
    from .api.machine import Devices, devices
    from .api.measurements import Accuracy, Run, accuracy, bench, ladder, run
    from .api.planning import Tuned, plan, tune
    from .api.records import Comparisons, Record, compare, load_record, plot
    from .api.reports import Report, report
    from .api.rooflines import roofline
    from .api.rungs import list, show
    from .api.watching import Watched, replay, watch, watching
    from .core.custom import custom_kernel
    from .core.kernel import Config, Kernel, Ladder, NDRange
    from .core.plan import Plan, plan_kernel
    from .core.problem import Copy, Gemm, Transpose
    from .core.records import Row, save_record
    from .errors import (
        BuildFailed,
        InvalidInput,
        LaunchFailed,
        NoDevice,
        OutOfDeviceMemory,
        RecordError,
        StorageFailed,
        TilewrightError,
        UnknownName,
        Unsupported,
        UnsupportedType,
        WrongResult,
    )
    from .health import Examination, doctor
    from .kernels import LADDERS, Ladders, find_kernel, find_ladder, rung_before
    from .library.copies import copy, matrix_transpose, transpose
    from .library.pinning import Pinned, pinned
    from .library.prepared import Prepared, prepare
    from .library.products import gemm, matmul
    from .library.streamed.planning import StreamedPlan
    from .measurement.ladder_roofline import LadderRoofline
    from .measurement.roofline import Roofline
    from .runtime.opencl.device import list_devices, open_device
    from .runtime.run import run_plan
    from .runtime.verify import Verdict, verify

    __version__: str

_HOMES = {
    "advice.answer": ("Answer",),
    "analysis.explanations": ("WhatIf", "compare_explanations", "explain", "what_if"),
    "analysis.inspect": ("Inspection", "inspect"),
    "analysis.predict": ("Prediction", "Ranking", "predict"),
    "api.answers": ("why",),
    "api.checking": ("Checked", "check"),
    "api.device_facts": ("peaks",),
    "api.learning": ("Exercise", "Exercises", "Grades", "Tour", "classroom", "exercise", "grade", "tour"),
    "api.machine": ("Devices", "devices"),
    "api.measurements": ("Accuracy", "Run", "accuracy", "bench", "ladder", "run"),
    "api.planning": ("Tuned", "plan", "tune"),
    "api.records": ("Comparisons", "Record", "compare", "load_record", "plot"),
    "api.reports": ("Report", "report"),
    "api.rooflines": ("roofline",),
    "api.rungs": ("list", "show"),
    "api.watching": ("Watched", "replay", "watch", "watching"),
    "core.custom": ("custom_kernel",),
    "core.kernel": ("Config", "Kernel", "Ladder", "NDRange"),
    "core.plan": ("Plan", "plan_kernel"),
    "core.problem": ("Copy", "Gemm", "Transpose"),
    "core.records": ("Row", "save_record"),
    "errors": (
        "BuildFailed", "InvalidInput", "LaunchFailed", "NoDevice", "OutOfDeviceMemory", "RecordError",
        "StorageFailed", "TilewrightError", "UnknownName", "Unsupported", "UnsupportedType", "WrongResult",
    ),
    "health": ("Examination", "doctor"),
    "kernels": ("LADDERS", "Ladders", "find_kernel", "find_ladder", "rung_before"),
    "library.copies": ("copy", "matrix_transpose", "transpose"),
    "library.pinning": ("Pinned", "pinned"),
    "library.prepared": ("Prepared", "prepare"),
    "library.products": ("gemm", "matmul"),
    "library.streamed.planning": ("StreamedPlan",),
    "measurement.ladder_roofline": ("LadderRoofline",),
    "measurement.roofline": ("Roofline",),
    "runtime.opencl.device": ("list_devices", "open_device"),
    "runtime.run": ("run_plan",),
    "runtime.verify": ("Verdict", "verify"),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "LADDERS", "Accuracy", "Answer", "BuildFailed", "Checked", "Comparisons", "Config", "Copy", "Devices", "Examination",
    "Exercise", "Exercises", "Gemm", "Grades", "Inspection", "InvalidInput", "Kernel", "Ladder", "LadderRoofline",
    "Ladders", "LaunchFailed", "NDRange", "NoDevice", "OutOfDeviceMemory", "Pinned", "Plan", "Prediction", "Prepared", "Ranking",
    "Record", "RecordError", "Report", "Roofline", "Row", "Run", "StorageFailed", "StreamedPlan", "TilewrightError", "Tour",
    "Transpose", "Tuned", "UnknownName", "Unsupported", "UnsupportedType", "Verdict", "Watched", "WhatIf", "WrongResult",
    "__version__", "accuracy", "bench", "check", "classroom", "compare", "compare_explanations", "copy", "custom_kernel",
    "devices", "doctor", "exercise", "explain", "find_kernel", "find_ladder", "gemm", "grade", "inspect", "ladder", "list",
    "list_devices", "load_record", "matmul", "matrix_transpose", "open_device", "peaks", "pinned", "plan", "plan_kernel", "plot",
    "predict", "prepare", "replay", "report", "roofline", "run", "run_plan", "rung_before", "save_record", "show", "tour",
    "transpose", "tune", "verify", "watch", "watching", "what_if", "why",
]  # fmt: skip


if not TYPE_CHECKING:  # type checkers have the imports above, and complain about any other name

    def __getattr__(name: str) -> Any:
        """Import a public name from its module at its first use (PEP 562)."""
        if name == "__version__":
            from .core.version import VERSION

            return VERSION
        if name not in _HOME:
            raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> Any:
    return sorted(__all__)
