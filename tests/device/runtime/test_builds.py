"""Programs are built without touching what all threads share."""

import threading
import warnings

import pytest

from tilewright.runtime.opencl.device import Device

SOURCE = "__kernel void named_{number}(__global float* x) {{ x[get_global_id(0)] *= {number}; }}"


def test_filters_of_warnings_are_left_alone(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """D23: with them set in one thread, another lost its call to a warning of the compiler's log."""

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
