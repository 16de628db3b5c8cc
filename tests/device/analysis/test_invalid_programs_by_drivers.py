"""What `explain` refuses as invalid is what the drivers' compilers refuse."""

import pytest
from invalid_programs import INVALID, LATELY_INVALID, VALID, source_of

from tilewright.core.source import parse_signature
from tilewright.errors import BuildFailed
from tilewright.runtime.opencl.device import Device


def build(device: Device, prelude: str, body: str) -> None:
    signature = parse_signature(source_of("", ""), "k")
    device.build(source_of(prelude, body), "k", signature, "float32", ("-cl-std=CL3.0",))


@pytest.mark.parametrize(("prelude", "body"), INVALID)
def test_drivers_refuse_them(device: Device, prelude: str, body: str) -> None:
    with pytest.raises(BuildFailed):
        build(device, prelude, body)


@pytest.mark.parametrize(("prelude", "body"), LATELY_INVALID)
def test_drivers_of_today_refuse_them(device: Device, prelude: str, body: str) -> None:
    if "intel" not in device.info.platform.lower():
        pytest.skip("older compilers only warn")
    with pytest.raises(BuildFailed):
        build(device, prelude, body)


@pytest.mark.parametrize("name", VALID)
def test_drivers_take_valid_ones(device: Device, name: str) -> None:
    build(device, *VALID[name])
