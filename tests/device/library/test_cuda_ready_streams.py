"""Ready calls on CUDA arrays, on a pretended GPU: streams, captures and contexts, and launches that fail."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cuda_fixtures import PretendedStreams, general, values
from pretended_cuda import PretendedArrays, PretendedDevice

from tilewright import gemm, matmul, prepare
from tilewright.errors import LaunchFailed
from tilewright.runtime.cuda import driver

# The current stream, the `queue`, and the captures of streams.
PLACES = [
    (1, None, {}), (20, None, {}), (30, None, {}), (30, None, {30: 5}), (30, None, {30: 6}), (30, None, {20: 5}), (1, 20, {}),
    (20, 20, {}), (20, 1, {}), (20, 30, {}), (20, 30, {30: 7}), (20, 30, {30: 8}),
]  # fmt: skip


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("prepared_once", [False, True])
def test_a_ready_call_is_for_one_stream_and_one_capture(
    biased: bool, prepared_once: bool, framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    launched: list[tuple[int, dict[int, int]]] = []
    whole = gpu.launcher

    def launcher(kernel: Any, ndrange: Any, what: str, stream: int) -> Any:
        launch, seen = whole(kernel, ndrange, what, stream), (stream, dict(streams.captures))

        def noted() -> int:
            launched.append(seen)
            return launch()

        return noted

    monkeypatch.setattr(gpu, "launcher", launcher)
    gone = general(monkeypatch)
    a, b, bias = values(3, 5), values(5, 4, seed=1), values(4, seed=2)
    left, right, out = gpu.own(a), gpu.own(b), gpu.own(values(3, 4))
    added: dict[str, Any] = {"bias": gpu.own(bias)} if biased else {}
    wanted = a @ b + bias if biased else a @ b
    products: dict[int | None, Any] = {}
    matmul(left, right)  # which makes the kind of arrays known
    for new in (True, False):
        for current, queue, captures in PLACES:
            monkeypatch.setattr(framework, "current_stream", lambda *_, current=current: current)
            streams.captures = captures
            if prepared_once and queue not in products:
                products[queue] = prepare(left, right, out, queue=queue, **added)
                products[queue](left, right, out, **added)
            gone.clear()
            launched.clear()
            out.array.fill(np.nan)
            if prepared_once:
                products[queue](left, right, out, **added)
            elif biased:
                gemm(left, right, out=out, queue=queue, **added)
            else:
                matmul(left, right, out, queue=queue)
            assert np.allclose(out.array, wanted, atol=1e-4)
            stream = current if queue is None else queue
            assert [each for each, _ in launched] == [stream]
            # Launches of a captured call are its own: they were made while that capture went on.
            assert launched[0][1].get(stream) == captures.get(stream)
            if not new:
                assert gone == [], (current, queue, captures)


def test_a_launch_in_another_context_is_made_in_ours(
    framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CUDA refuses launches on default streams in other contexts, and in threads without one."""
    whole, entered = gpu.launcher, list[int]()

    def launcher(kernel: Any, ndrange: Any, what: str, stream: int) -> Any:
        launch = whole(kernel, ndrange, what, stream)
        return lambda: launch() if streams.context == 1 else 400

    @contextmanager
    def current() -> Iterator[PretendedStreams]:
        before, streams.context = streams.context, 1
        entered.append(before)
        yield streams
        streams.context = before

    monkeypatch.setattr(gpu, "launcher", launcher)
    monkeypatch.setattr(gpu, "current", current)
    a, c = values(8, 8), values(8, 8, seed=1)
    own, out, bias = gpu.own(a), gpu.own(values(8, 8)), gpu.own(values(8, seed=2))
    plain, other = partial(matmul, own, gpu.own(c), out), partial(gemm, own, own, bias=bias, out=out)
    for call, wanted in ((plain, a @ c), (other, a @ a + bias.array)):
        for context in (1, 1, 7, 0, 7, 1):
            streams.context = context
            entered.clear()
            out.array.fill(np.nan)
            call()
            assert np.allclose(out.array, wanted, atol=1e-4)
            assert streams.context == context
        assert entered == [], "a call in our context"


def test_a_launch_that_fails_is_an_error(
    framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = 0
    monkeypatch.setattr(gpu, "launcher", lambda *_: lambda: status)
    names = SimpleNamespace(cuGetErrorName=lambda *_: 0, cuGetErrorString=lambda *_: 0)
    monkeypatch.setattr(driver, "driver_calls", lambda: names)
    a = gpu.own(values(8, 8))
    b, bias = gpu.own(values(8, 8)), gpu.own(values(8))
    for call in (partial(matmul, a, b), partial(gemm, a, b, bias=bias), partial(gemm, a, b, alpha=2)):
        status = 0
        for _ in range(3):
            call()
        status = 701
        with pytest.raises(LaunchFailed, match="701"):
            call()
