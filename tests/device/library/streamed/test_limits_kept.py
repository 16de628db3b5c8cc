"""Limits of memory are never exceeded: what is allocated is counted where it is allocated, not where it is planned."""

import gc
import os
import subprocess
import sys
import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from separate import close
from tiled_calls import KINDS, mapped, pretend, random

from tilewright import gemm, matmul, transpose
from tilewright.errors import StorageFailed
from tilewright.library.streamed import budget
from tilewright.library.streamed.executor import Run
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.staging import PAGE_BYTES

MB = 10**6


class CountedBuffers:
    """Bytes of all buffers of OpenCL that live, by the host's memory and the device's own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.own = self.own_peak = self.host_peak = self.host = 0
        make = cl.Buffer
        counted = self

        class Buffer(make):  # type: ignore[misc, valid-type]
            def __init__(self, context: Any, flags: int, size: int = 0, hostbuf: Any = None) -> None:
                super().__init__(context, flags, size, hostbuf=hostbuf)
                self._kind = "host" if flags & (cl.mem_flags.USE_HOST_PTR | cl.mem_flags.ALLOC_HOST_PTR) else "own"
                self._count(self.size)

            def _count(self, nbytes: int) -> None:
                now = getattr(counted, self._kind) + nbytes
                setattr(counted, self._kind, now)
                peak = f"{self._kind}_peak"
                setattr(counted, peak, max(getattr(counted, peak), now))

            def __del__(self) -> None:
                self._count(-self.size)

        monkeypatch.setattr(cl, "Buffer", Buffer)


def skip_a_shared_gpu(kind: str, device: Device) -> None:
    if kind == "shared" and device.info.kind != "cpu":
        pytest.skip("a GPU has memory of its own, whatever the test would count")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [1, 3, 8])
def test_no_buffers_beyond_the_limit_of_the_device(
    kind: str, limit: int, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_a_shared_gpu(kind, device)
    pretend(kind, monkeypatch)
    a, b, c = random(900, 800), random(800, 1000), random(900, 1000)
    device.pool.release()
    counted = CountedBuffers(monkeypatch)
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": f"{limit}MB"}
    assert close(matmul(a, b, **where), a, b)
    gemm(a, b, c, beta=1, bias=c[0], activation="relu", **where)
    gemm(a.astype(np.float16), b.astype(np.float16), **where)
    transpose(a, **where)
    peak = counted.own_peak if kind == "separate" else counted.host_peak
    assert limit * MB / 4 < peak <= limit * MB


@pytest.mark.parametrize("kind", KINDS)
def test_no_more_of_the_host_than_its_limit(
    kind: str, device: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """NumPy tells tracemalloc of its arrays. Python's own objects, of plans and kernels, are counted, too."""
    skip_a_shared_gpu(kind, device)
    a, b = random(1500, 1500), random(1500, 1500)
    left, right = mapped(str(tmp_path / "a"), a), mapped(str(tmp_path / "b"), b)
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(1500, 1500))
    if kind == "separate":
        monkeypatch.setattr("tilewright.library.streamed.running.shares_memory", lambda device: False)
    limit = 40 * MB
    most = 5 * MB if device.info.kind == "cpu" else 30 * MB  # the kernels of GPUs copy operands
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": most, "max_host_bytes": limit}
    matmul(left[:300], right, out[:300], **where)  # makes what is made once
    pinned = CountedBuffers(monkeypatch)
    tracemalloc.start()
    matmul(left, right, out, **where)
    peak = tracemalloc.get_traced_memory()[1] + (pinned.host_peak if kind == "separate" else 0)
    tracemalloc.stop()
    assert peak <= limit
    assert close(out, a, b)


def test_ledgers_count_all_that_is_allocated(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    ledgers: list[budget.Ledger] = []
    begin = budget.Ledger.__init__

    def noted(self: budget.Ledger, *given: Any) -> None:
        begin(self, *given)
        ledgers.append(self)

    monkeypatch.setattr(budget.Ledger, "__init__", noted)
    pretend("separate", monkeypatch)
    counted = CountedBuffers(monkeypatch)
    matmul(random(500, 400), random(400, 300), device=device.info.label, max_device_bytes=MB)
    own = next(each for each in ledgers if each.place == device.info.label)
    assert counted.own_peak <= own.used <= MB
    assert PAGE_BYTES == 4096


RESIDENT = """
import ctypes, sys
import numpy as np, tilewright
folder, side, limit, device = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
def now(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))
a, b = (np.memmap(f"{folder}/{name}", np.float32, "r", shape=(side, side)) for name in "ab")
out = np.memmap(f"{folder}/out", np.float32, "w+", shape=(side, side))
tilewright.matmul(a, b, out, max_host_bytes=limit, device=device)  # kernels are compiled, threads and the driver are ready
out[...] = 0
del out
ctypes.CDLL(None).malloc_trim(0)
out = np.memmap(f"{folder}/out", np.float32, "r+", shape=(side, side))
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before = now("VmRSS")
tilewright.matmul(a, b, out, max_host_bytes=limit, device=device)
print(now("VmHWM") - before)
"""


@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="only Linux forgets how large a process was"
)
def test_a_product_of_files_stays_below_the_limit_as_the_system_counts(tmp_path: Path, device: Device) -> None:
    """Resident pages of a process that multiplies 3 x 36 MB with 30 MB; what Python allocates has a few MB besides."""
    side, limit = 3000, 30 * MB
    for name in "ab":
        made = np.memmap(tmp_path / name, np.float32, "w+", shape=(side, side))
        made[...] = 1
        made.flush()
    command = [sys.executable, "-c", RESIDENT, str(tmp_path), str(side), str(limit), device.info.label]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 1 * MB < int(ended.stdout) < limit + 10 * MB
    assert (np.memmap(tmp_path / "out", np.float32, "r", shape=(side, side)) == side).all()


@pytest.fixture
def no_collector() -> Iterator[None]:
    """What only the collector of cycles would free is still there."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [None, StorageFailed("the disk is full")])
def test_nothing_of_the_callers_is_kept_after_the_call(
    kind: str, error: Exception | None, tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(kind, monkeypatch)
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": MB}
    stored = Run.stored

    def fail(*given: Any) -> None:
        stored(*given)
        if error is not None:
            raise error

    monkeypatch.setattr(Run, "stored", fail)
    for product in (True, False):
        a, b, out = random(600, 600), random(600, 600), mapped(str(tmp_path / "out"), random(600, 600))
        kept = [weakref.ref(each) for each in (a, b, out)]
        try:
            _ = matmul(a, b, out, **where) if product else transpose(a, out, **where)
        except StorageFailed as raised:
            raised.__traceback__ = raised.__cause__ = None
        _ = None
        del a, b, out
        assert [each() is None for each in kept] == [True] * 3
        (tmp_path / "out.tilewright-journal").unlink(missing_ok=True)
