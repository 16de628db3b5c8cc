"""Pinned arrays on devices that pretend to have memory of their own: what is copied directly, who keeps it, what is refused."""

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
import tiled_calls
from separate import pretend
from tiled_calls import random

from tilewright import Pinned, gemm, matmul, matrix_transpose, pinned, transpose
from tilewright.errors import InvalidInput, LaunchFailed, UnsupportedType
from tilewright.library import pinning
from tilewright.library.engine import Call, default_device
from tilewright.library.streamed import running
from tilewright.library.streamed.executor import Run
from tilewright.library.streamed.planning import choose
from tilewright.runtime.opencl import direct_copies, staging
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.pinned import PinnedRange
from tilewright.runtime.opencl.staging import take_staging


class Copies:
    """Counts the bytes that go directly."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nbytes = 0
        whole = direct_copies._commands

        def counted(*given: Any) -> Iterator[Any]:
            self.nbytes += sum(block.rows * block.row_bytes for block in given[3])
            yield from whole(*given)

        monkeypatch.setattr(direct_copies, "_commands", counted)

    def taken(self) -> int:
        nbytes, self.nbytes = self.nbytes, 0
        return nbytes


@pytest.fixture
def copies(device: Device, monkeypatch: pytest.MonkeyPatch) -> Copies:
    monkeypatch.setattr(pinning, "shares_memory", lambda _: False)
    pretend(default_device(device.info.label), 2, monkeypatch)
    tiled_calls.pretend("separate", monkeypatch)
    monkeypatch.setattr(direct_copies, "LEAST_COMMAND", 4096)
    monkeypatch.setattr(direct_copies, "MOST_BY_ROWS", 20_000)
    return Copies(monkeypatch)


VIEWS: dict[str, tuple[Any, bool]] = {
    "dense": (lambda x: x, True),
    "some rows and columns": (lambda x: x[3:, 5:], True),
    "by columns": (np.asfortranarray, False),  # a copy, which is not pinned
    "every other row": (lambda x: x[::2], True),
    "every other column": (lambda x: x[:, ::2], False),
    "backwards": (lambda x: x[::-1], False),
    "transposed": (lambda x: x.T, True),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("limits", [{}, {"max_device_bytes": 1_500_000}], ids=["one piece", "tiles"])
def test_views_of_pinned_arrays(view: str, limits: dict[str, Any], device: Device, copies: Copies) -> None:
    seen, direct = VIEWS[view]
    whole, other = random(410, 390), random(420, 400)
    a = seen(whole)
    b = other[: a.shape[1], :350]
    out = np.zeros((a.shape[0], 350), np.float32)
    wanted = matmul(a, b, device=device.info.label, **limits)
    assert not copies.taken()
    with pinned(whole, device=device.info.label):
        assert np.array_equal(matmul(a, b, device=device.info.label, **limits), wanted)
        assert bool(copies.taken()) is direct
        with pinned(other, out, device=device.info.label):
            assert matmul(a, b, out, device=device.info.label, **limits) is out
            assert copies.taken() >= out.nbytes / 2  # narrow tiles at the edges go another way
    assert np.allclose(out, wanted, rtol=1e-5, atol=1e-4)  # tiles may be others for pinned arrays
    matmul(a, b, out, device=device.info.label, **limits)
    assert not copies.taken(), "nothing is pinned any more"


def test_every_call_of_the_library(device: Device, copies: Copies) -> None:
    a, b, c = random(300, 280), random(280, 300), random(300, 300)
    where: dict[str, Any] = {"device": device.info.label}
    stack = random(3, 200, 180)
    results: list[Any] = [
        np.zeros((300, 300), np.float32),
        np.zeros((280, 300), np.float32),
        np.zeros((3, 180, 200), np.float32),
    ]
    with pinned(a, b, c, stack, *results, **where):
        every: list[dict[str, Any]] = [{}, {"max_device_bytes": 1_500_000}]
        for limits in every:
            gemm(a, b, c, beta=2, bias=c[0], out=results[0], **where, **limits)
            assert np.allclose(results[0], a @ b + 2 * c + c[0], atol=1e-3)
            transpose(a, results[1], **where, **limits)
            assert np.array_equal(results[1], a.T)
            matrix_transpose(stack, results[2], **where, **limits)
            assert np.array_equal(results[2], stack.mT)
            assert copies.taken()


def test_stacks_and_gaps_between_matrices(device: Device, copies: Copies) -> None:
    whole = random(5, 140, 150)
    b = random(150, 140)
    with pinned(whole, b, device=device.info.label):
        for a in (whole, whole[::2], whole[1:, 2:, :], whole[:, :, :]):
            assert np.allclose(matmul(a, b, device=device.info.label), a @ b, atol=1e-3)
            assert copies.taken() >= b.nbytes


def test_conversions_go_another_way(device: Device, copies: Copies) -> None:
    a, b = random(300, 200), random(200, 300).astype(np.float64)
    with pinned(a, device=device.info.label):
        assert np.allclose(matmul(a, b, device=device.info.label, max_device_bytes="4MB"), a @ b)
    assert not copies.taken()


def test_an_array_lives_as_long_as_it_is_pinned(device: Device, copies: Copies) -> None:
    array = random(300, 300)
    known, held = weakref.ref(array), pinned(array, device=device.info.label)
    assert held.nbytes == array.nbytes
    del array
    gc.collect()
    assert known() is not None
    held.close()
    held.close()
    gc.collect()
    assert known() is None
    assert held.nbytes == 0


def test_two_pins_of_an_array_are_one_until_the_last(device: Device, copies: Copies) -> None:
    array, opened = random(300, 300), default_device(device.info.label)
    first, second = pinned(array, array[20:], device=device.info.label), pinned(array, device=device.info.label)
    assert first.nbytes == array.nbytes
    first.close()
    assert opened.pinned.holding(array[:, 3:]) is not None
    second.close()
    assert opened.pinned.holding(array) is None


def test_some_bytes_of_a_pinned_array_are_refused(device: Device, copies: Copies) -> None:
    array = random(300, 300)
    with pinned(array[:200], device=device.info.label):
        with pytest.raises(
            InvalidInput, match="of the 240,000 bytes that argument 0 spans, 120,000 are pinned already"
        ):
            pinned(array[100:], device=device.info.label)
        with pytest.raises(InvalidInput, match="pin the array that has the memory of both"):
            pinned(array, device=device.info.label)
        pinned(array[200:], device=device.info.label).close()
    with pinned(array, device=device.info.label) as whole:
        assert whole.nbytes == array.nbytes


@pytest.mark.parametrize("rows", [0, 300, 100], ids=["another array", "the same", "a part of it"])
def test_a_destructor_may_pin_arrays_while_one_is_pinned(
    rows: int, device: Device, copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The garbage collector runs it wherever memory is allocated."""
    array, other, garbage = random(300, 300), random(300, 300), [1]
    inner: list[Pinned] = []
    outer: list[Pinned | InvalidInput] = []
    target = array[:rows] if rows else other

    class Pins:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            inner.append(pinned(target, device=device.info.label))

    def disturbed(*given: Any) -> PinnedRange:
        if garbage:
            garbage.clear()
            Pins()
            gc.collect()
        return PinnedRange(*given)

    def pin() -> None:
        try:
            outer.append(pinned(array, device=device.info.label))
        except InvalidInput as error:
            outer.append(error.with_traceback(None))

    monkeypatch.setattr("tilewright.runtime.opencl.pinned.PinnedRange", disturbed)
    caller = Thread(target=pin, daemon=True)
    caller.start()
    caller.join(10)
    assert not caller.is_alive()
    known = default_device(device.info.label).pinned
    assert inner[0].nbytes == target.nbytes
    assert known.holding(target) is not None
    if rows == 100:
        assert "120,000 are pinned already" in str(outer[0])
        assert known.holding(array) is None
    else:
        assert isinstance(outer[0], Pinned)
        assert known.holding(array) is not None
        inner[0].close()
        assert outer[0].nbytes == array.nbytes
        assert (known.holding(target) is None) == (rows == 0)


def test_what_cannot_be_pinned_is_refused_and_nothing_is(device: Device, copies: Copies, tmp_path: Path) -> None:
    array = random(100, 100)
    file = np.memmap(tmp_path / "a", np.float32, "w+", shape=(100, 100))
    wrong: list[tuple[Any, type[Exception], str]] = [
        ([[1.0]], UnsupportedType, "argument 1 is a list"),
        (np.array([None]), UnsupportedType, "objects of Python"),
        (file, InvalidInput, "argument 1 lies in a file"),
        (file[3:].view(np.ndarray), InvalidInput, "argument 1 lies in a file"),
    ]
    for given, error, match in wrong:
        with pytest.raises(error, match=match):
            pinned(array, given, device=device.info.label)
        gc.collect()
        assert default_device(device.info.label).pinned.holding(array) is None


def test_read_only_and_empty_arrays(device: Device, copies: Copies) -> None:
    a, b = random(300, 300), random(300, 300)
    a.flags.writeable = False
    with pinned(a, b[:0], np.zeros((0, 3)), device=device.info.label) as held:
        assert held.nbytes == a.nbytes
        assert np.allclose(matmul(a, b, device=device.info.label), a @ b, atol=1e-3)
        assert copies.taken() == a.nbytes


def test_a_device_that_works_in_the_hosts_memory_pins_nothing(device: Device) -> None:
    if device.info.kind != "cpu":
        pytest.skip("the device has memory of its own")
    with pinned(random(30, 30), device=device.info.label) as held:
        assert isinstance(held, Pinned)
        assert repr(held) == "<Pinned: 0 bytes>"


def test_threads_that_pin_and_let_go_beside_products(device: Device, copies: Copies) -> None:
    a, b = random(300, 310), random(310, 320)
    wanted = a.astype(np.float64) @ b
    errors: list[BaseException] = []
    ended = Event()

    def pin() -> None:
        try:
            while not ended.wait(0.001):
                with pinned(a, b, device=device.info.label):
                    ended.wait(0.002)
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=pin) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(40):
        limits: dict[str, Any] = {"max_device_bytes": "2MB"} if number % 2 else {}
        assert np.allclose(matmul(a, b, device=device.info.label, **limits), wanted, atol=1e-3)
    ended.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert copies.taken()


def test_a_refusal_keeps_nothing_pinned(device: Device, copies: Copies) -> None:
    """As in a notebook, which keeps the last error and so all that its functions knew."""
    array = random(300, 300)
    part = pinned(array[:200], device=device.info.label)
    with pytest.raises(InvalidInput) as kept:
        pinned(array, device=device.info.label)
    part.close()
    with pinned(array, device=device.info.label) as whole:
        assert whole.nbytes == array.nbytes
    assert "argument 0 spans" in str(kept.value)


def test_a_whole_array_beside_its_parts(device: Device, copies: Copies) -> None:
    array = random(300, 300)
    with pinned(array[:100], array[50:], array, np.empty(3, "V0"), device=device.info.label) as held:
        assert held.nbytes == array.nbytes


@pytest.mark.parametrize("failing", ["enqueue", "read"])
def test_a_call_that_fails_lets_go(
    failing: str, device: Device, copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, out = random(300, 300), random(300, 300), random(300, 300)
    opened = default_device(device.info.label)

    def fail(*given: Any, **named: Any) -> None:
        raise LaunchFailed("simulated")

    with pinned(a, b, out, device=device.info.label), monkeypatch.context() as patched:
        if failing == "enqueue":
            patched.setattr(Call, "enqueue", fail)
        else:
            patched.setattr(staging, "read_directly", fail)
        with pytest.raises(LaunchFailed, match="simulated"):
            matmul(a, b, out, device=device.info.label)
    assert copies.taken()
    for each in (a, b, out):
        assert opened.pinned.holding(each) is None


def test_memory_stays_pinned_while_a_call_in_tiles_runs(
    device: Device, copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, out = random(500, 500), random(500, 500), np.zeros((500, 500), np.float32)
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": 1_200_000}
    with pinned(a, b, out, device=device.info.label):
        matmul(a, b, out, **where)
    every = copies.taken()
    held = pinned(a, b, out, device=device.info.label)
    stored = Run.stored

    def close(*given: Any) -> None:
        held.close()
        stored(*given)

    monkeypatch.setattr(Run, "stored", close)
    matmul(a, b, out, **where)
    assert copies.taken() == every, "some went another way after another thread had let go"
    assert default_device(device.info.label).pinned.holding(a) is None


def test_an_empty_result_waits_for_what_is_read(device: Device, copies: Copies) -> None:
    b = random(300, 300)
    with pinned(b, device=device.info.label):
        assert matmul(b[:0], b, device=device.info.label).shape == (0, 300)
    assert take_staging(default_device(device.info.label))._begun == []


def test_tiles_are_chosen_for_pinned_arrays_only_if_all_are_copied_directly(
    device: Device, copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[bool] = []

    def noted(*given: Any) -> Any:
        chosen.append(given[-1])
        return choose(*given)

    monkeypatch.setattr(running, "choose", noted)
    a, b, out = random(400, 400), random(400, 400), np.zeros((400, 400), np.float32)
    wide = out.astype(np.float64)
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": 1_500_000}
    with pinned(a, b, out, wide, device=device.info.label):
        matmul(a, b, out, **where)
        matmul(a.T, b, out.T, **where)
        matmul(a[:, ::2], b[:200], out, **where)
        matmul(a[::-1], b, out, **where)
        matmul(a, b, wide, **where)
        matmul(a, b, **where)
    matmul(a, b, out, **where)
    assert chosen == [True, True, False, False, False, False, False]
