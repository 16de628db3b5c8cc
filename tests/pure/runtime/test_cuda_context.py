"""Which CUDA context is current in a thread, before, during and after a call of ours."""

import ctypes
from typing import Any

import pytest

from tilewright.core.device import DeviceInfo
from tilewright.runtime.cuda.device import Device

OWN, OTHER = 7, 9


class Thread:
    """CUDA's driver as one thread sees it: a stack of contexts."""

    def __init__(self, *contexts: int) -> None:
        self.contexts = list(contexts)

    def cuCtxGetCurrent(self, answer: Any) -> int:
        answer._obj.value = self.contexts[-1] if self.contexts else None
        return 0

    def cuCtxSetCurrent(self, context: int) -> int:
        self.contexts[-1:] = [context]
        return 0

    def cuCtxPushCurrent_v2(self, context: int) -> int:
        self.contexts.append(context)
        return 0

    def cuCtxPopCurrent_v2(self, answer: ctypes.c_void_p) -> int:
        self.contexts.pop()
        return 0


def device_in(thread: Thread) -> Device:
    made = Device.__new__(Device)
    made.info, made.context = DeviceInfo("a GPU", "NVIDIA CUDA"), OWN
    made.driver = thread  # type: ignore[assignment]
    return made


@pytest.mark.parametrize(
    ("before", "after"), [([], [OWN]), ([OWN], [OWN]), ([OTHER], [OTHER]), ([OWN, OTHER], [OWN, OTHER])]
)
def test_the_callers_context_is_restored(before: list[int], after: list[int]) -> None:
    thread = Thread(*before)
    with device_in(thread).current():
        assert thread.contexts[-1] == OWN
    assert thread.contexts == after


def test_it_is_restored_after_an_error() -> None:
    thread = Thread(OTHER)
    with pytest.raises(RuntimeError, match="inside"), device_in(thread).current():
        raise RuntimeError("inside")
    assert thread.contexts == [OTHER]
