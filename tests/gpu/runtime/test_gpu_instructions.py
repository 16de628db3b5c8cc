"""On an NVIDIA GPU: what its compute capability promises must be what the probes find."""

import pytest

from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.instructions import WORKS, answers_for, try_in_children

pytestmark = pytest.mark.gpu


def test_instructions_of_the_compute_capability_are_found(nvidia: Device) -> None:
    answers, lasting = try_in_children(nvidia.info)
    assert lasting
    assert answers_for(nvidia.info) == answers
    capability = nvidia.info.compute_capability
    assert capability is not None
    assert answers["nvidia"] == WORKS
    if capability >= (8, 0):
        assert {answers[name] for name in ("mma", "ldmatrix", "cp_async", "static_local:101376")} == {WORKS}, answers
    if capability == (9, 0):
        assert set(answers.values()) == {WORKS}, answers
