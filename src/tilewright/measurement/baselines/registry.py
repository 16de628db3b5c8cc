"""All baselines. A new one is an entry in BASELINES of its library's file; a new file is an entry in LIBRARIES."""

from ...core.problem import Problem
from ...runtime.device import Device
from . import Baseline, Measurement, Request, blas, child, clblast, cublas

LIBRARIES = (child, cublas, clblast, blas)


def baselines_for(measurement: Measurement, problem: Problem, *devices: Device) -> list[tuple[Baseline, Request]]:
    """The baselines that are measured for a problem, the main one first."""
    request = Request(measurement, problem, devices)
    return [(each, request) for library in LIBRARIES for each in library.BASELINES if each.is_for(request)]
