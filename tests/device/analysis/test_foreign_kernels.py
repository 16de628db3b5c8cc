"""Kernels in the styles of samples and benchmark suites: `explain` leaves the driver's values, and finds true faults only."""

import warnings
from functools import cache

import numpy as np
import pyopencl as cl
import pytest
from foreign import FAULTS, FOLDER, KERNELS, NEEDS, launches
from foreign_runs import run_on_driver

from tilewright.analysis.explain import Explanation, explain_source
from tilewright.errors import SourceError
from tilewright.runtime.opencl.device import Device

KINDS = {
    "race": {"data race", "race between groups"},
    "bounds": {"out of bounds"},
    "uninitialised": {"uninitialised read"},
    "divergent": {"divergent barrier"},
}
ROUNDING = 2e-5  # of the largest: fused multiply-adds and elementary functions differ


@cache
def explained(name: str) -> Explanation:
    """Skips a kernel that needs a part of the language that is refused here, with the sentence."""
    (launch,) = launches(name)
    try:
        return explain_source(
            launch.source, filename=f"{launch.name}.cl", macros=launch.macros, entry=launch.entry,
            global_size=launch.global_size, local_size=launch.local_size, arguments=launch.arguments, groups="all",
        )  # fmt: skip
    except SourceError as refused:
        if name in NEEDS:
            pytest.skip(f"needs {NEEDS[name]}: {refused}")
        raise


def test_every_file_has_a_launch() -> None:
    assert {each.stem for each in FOLDER.glob("*.cl")} == set(KERNELS)
    assert len(KERNELS) >= 60


@pytest.mark.parametrize("name", KERNELS)
def test_faults_are_found_where_they_are(name: str) -> None:
    found = {each.kind for each in explained(name).faults}
    for fault in FAULTS.get(name, ()):
        assert found & KINDS[fault], f"{name}: {fault} is not found, but {found or 'nothing'}"
    assert found <= set().union(*(KINDS[each] for each in FAULTS.get(name, ())))


@pytest.mark.parametrize("name", [each for each in KERNELS if each not in FAULTS])
def test_values_are_the_drivers(one_device: Device, name: str) -> None:
    (launch,) = launches(name)
    try:
        with warnings.catch_warnings(action="ignore"):
            wanted = run_on_driver(one_device, launch)
    except (cl.Error, RuntimeError) as refused:
        if name in NEEDS:
            pytest.skip(f"{one_device.info.label} refuses {NEEDS[name]}: {refused}")
        raise
    outputs = explained(name).outputs
    assert outputs, "the kernel writes nothing"
    for buffer, found in outputs.items():
        assert_close(f"{name}: {buffer}", wanted[buffer], found)
    assert any(not np.array_equal(found, launch.arguments[buffer]) for buffer, found in outputs.items())


def assert_close(what: str, wanted: np.ndarray, found: np.ndarray) -> None:
    """Integers and structures bit by bit, floating-point numbers to rounding."""
    if wanted.dtype.kind != "f":
        assert wanted.tobytes() == found.tobytes(), f"{what}: driver {wanted.ravel()[:8]}, explain {found.ravel()[:8]}"
        return
    driver, own = wanted.astype("f8"), found.astype("f8")
    assert np.isfinite(driver).all(), what
    error = np.abs(driver - own).max() / max(np.abs(driver).max(), 1e-30)
    assert error <= ROUNDING, f"{what}: {error:.1e} of the largest"
