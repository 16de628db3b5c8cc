"""What the arguments of a CUDA kernel keep alive."""

import gc
import weakref

from tilewright.runtime.cuda.programs import BoundKernel, Buffer


class Owner:
    pass


def test_an_argument_keeps_its_buffer_until_it_is_another_or_none() -> None:
    kernel = BoundKernel(0, 2, 0)
    owners = [Owner(), Owner()]
    known = [weakref.ref(each) for each in owners]
    for number, owner in enumerate(owners):
        kernel.set_arg(0, Buffer(64 + number, 8, owner))
        assert kernel.pointer(0).value == 64 + number
    del owners, owner
    gc.collect()
    assert known[0]() is None
    assert known[1]() is not None
    kernel.set_arg(0, None)
    gc.collect()
    assert not kernel.pointer(0).value
    assert known[1]() is None
