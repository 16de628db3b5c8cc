"""Runs cases on a device whose driver or tool watches memory: buffers as long as the operands, with no fences that would hide
a step beyond them, and nothing written that a kernel has to write."""

import json
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tilewright.core.problem import output_of
from tilewright.core.types import numpy_dtype
from tilewright.errors import TilewrightError
from tilewright.runtime.device import Device
from tilewright.runtime.run import LoadedPlan

from .memory import Memory, memory_of
from .shapes import Case

SAID = "case "  # what a child's lines about its cases begin with


def save_cases(cases: Sequence[Case], path: Path) -> None:
    """For a child of the same installation."""
    path.write_bytes(pickle.dumps(list(cases)))


def load_cases(path: Path) -> list[Case]:
    found = pickle.loads(path.read_bytes())
    assert all(isinstance(each, Case) for each in found)
    return list(found)


def buffers_on(device: Device, memory: Memory, case: Case) -> dict[str, Any]:
    """The case's buffers on the device; what no kernel may read before it is written is left as it comes."""
    output = output_of(case.problem)
    made = {}
    for name, array in memory.buffers.items():
        made[name] = device.allocate(array.nbytes)
        gaps = array.size != output.elements
        if name != output.name or gaps or not np.isnan(array.astype(np.complex128)).all():
            device.write(made[name], array.view(np.uint8))
    for name, nbytes in case.plan.scratch.items():
        made[name] = device.allocate(nbytes)
        if name in case.plan.zeroed:
            device.fill(made[name], 0, 0, nbytes)
    return made


def drive(case: Case, device: Device) -> str:
    """Launch the case once; what is wrong with its result, or ""."""
    memory = memory_of(case.problem)
    loaded = LoadedPlan(case.plan, device)
    buffers = buffers_on(device, memory, case)
    loaded.bind(buffers)
    loaded.enqueue(event=False)
    device.finish(case.problem.title)
    output = output_of(case.problem)
    result = device.read(buffers[memory.output], memory.buffers[memory.output].size, numpy_dtype(output.dtype))
    return memory.verdict(result)


def drive_all(cases: Sequence[Case], device: Device, seconds: float) -> Iterator[str]:
    """A line of JSON for each case that is begun within `seconds`; errors of the library are results, too."""
    begin = perf_counter()
    for number, case in enumerate(cases):
        started = perf_counter()
        if started - begin > seconds:
            return
        try:
            fault = drive(case, device)
        except TilewrightError as error:
            fault = f"{type(error).__name__}: {error}"
        yield SAID + json.dumps({"number": number, "fault": fault, "seconds": perf_counter() - started})
