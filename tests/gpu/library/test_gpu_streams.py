"""On an NVIDIA GPU with PyTorch: products on streams that were made anew while work of a destroyed one runs."""

import ctypes
from typing import Any

import pytest

import tilewright
from tilewright.runtime.cuda.driver import STREAM_NON_BLOCKING, answer, check, driver_calls

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
CYCLES = 20_000_000  # of a kernel that sleeps, some 10 ms


def product_on(stream: int, operands: tuple[Any, Any], asleep: bool) -> Any:
    with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
        out = torch.empty((len(operands[0]), operands[1].shape[1]), device="cuda", dtype=operands[0].dtype)
        if asleep:
            torch.cuda._sleep(CYCLES)
        return tilewright.matmul(*operands, out)


@pytest.mark.parametrize(("m", "n", "k", "dtype"), [(64, 64, 20000, torch.float64), (17, 3001, 4811, torch.float16)])
def test_destroyed_streams_keep_their_scratch_memory(m: int, n: int, k: int, dtype: Any) -> None:
    driver = driver_calls()
    pairs = [(torch.randn(m, k, device="cuda").to(dtype), torch.randn(k, n, device="cuda").to(dtype)) for _ in range(6)]
    torch.cuda.synchronize()
    found, handles = [], []
    for place, pair in enumerate(pairs):
        stream = answer("making a stream", driver.cuStreamCreate, STREAM_NON_BLOCKING)
        handles.append(stream)
        found.append(product_on(stream, pair, asleep=place % 2 == 0))
        check("destroying a stream", driver.library.cuStreamDestroy_v2(ctypes.c_void_p(stream)))
    torch.cuda.synchronize()
    assert len(set(handles)) < len(handles), "no handle came again: this test shows nothing"
    for (a, b), product in zip(pairs, found, strict=True):
        wanted = a.double() @ b.double()
        assert float((product.double() - wanted).norm() / wanted.norm()) < (1e-12 if dtype == torch.float64 else 2e-3)
