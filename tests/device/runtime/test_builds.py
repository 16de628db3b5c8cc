"""Programs are built without touching what all threads share."""

import threading
import warnings
from uuid import uuid4

import pytest

from tilewright.runtime.opencl.device import Device

SOURCE = "__kernel void named_{number}(__global float* x) {{ x[get_global_id(0)] *= {number}; }}"


def test_filters_of_warnings_are_left_alone(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """With them set in one thread, another lost its call to a warning of the compiler's log."""

    class Touched(Exception):
        pass

    def touched(*arguments: object, **settings: object) -> None:
        raise Touched

    monkeypatch.setattr(warnings, "catch_warnings", touched)
    failed: list[BaseException] = []

    def build(number: int) -> None:
        source = SOURCE.format(number=number)
        try:
            device._compile(source, f"named_{number}", ("-DUNIQUE_TO_THIS_TEST",), "")
        except BaseException as error:  # told by the main thread
            failed.append(error)

    threads = [threading.Thread(target=build, args=(number,)) for number in range(2, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_kept_code_is_not_that_of_another_processor(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several machines may share a home folder, and an AVX2 and an AVX-512 processor the name."""
    source, options = SOURCE.format(number=9), (f"-DUNIQUE_{uuid4().hex}",)
    kept = "(from the cache of built programs)"
    for facts, known in (("one", False), ("one", True), ("other", False), ("one", True)):
        monkeypatch.setattr("tilewright.runtime.opencl.device.code_facts", lambda kind, facts=facts: facts)
        assert (device._compile(source, "named_9", options, "")[1] == kept) == known
