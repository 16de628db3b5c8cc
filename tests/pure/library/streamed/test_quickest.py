"""How many of all devices a call takes, of GPUs of one host that are not here."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from devices import CPU, HOPPER

from tilewright.core.device import DeviceInfo
from tilewright.core.problem import Gemm
from tilewright.errors import InvalidInput
from tilewright.library.streamed import calls, device_rates, planning
from tilewright.library.streamed.limits import Limits

GPUS = [replace(HOPPER, compute_units=132, clock_mhz=1755, global_bytes=80 * 10**9, name=f"GPU {n}") for n in range(4)]


def used(problem: Gemm, infos: list[DeviceInfo], monkeypatch: pytest.MonkeyPatch, **limits: Any) -> int:
    """How many of the devices `device="all"` takes."""
    devices = tuple(SimpleNamespace(info=info) for info in infos)
    monkeypatch.setattr(calls, "opened", lambda _: devices)
    plan = calls.planned(problem, Limits(limits.pop("device", "all"), **limits))
    assert plan is not None
    return len(plan.shares)


def test_float16_that_one_gpu_multiplies_while_it_is_copied_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Gemm(32_768, 32_768, 32_768, "float16")
    assert used(problem, GPUS[:2], monkeypatch) == 1
    assert used(problem, GPUS, monkeypatch) == 1


def test_whoever_names_devices_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert used(Gemm(32_768, 32_768, 32_768, "float16"), GPUS[:2], monkeypatch, device=[0, 1]) == 2


def test_float32_takes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Gemm(32_768, 32_768, 32_768)
    assert used(problem, GPUS[:2], monkeypatch) == 2


def test_a_deep_float16_product_takes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    assert used(Gemm(131_072, 131_072, 131_072, "float16"), GPUS[:2], monkeypatch) == 2


def test_a_processor_beside_a_gpu_is_left_out_where_its_tiles_would_slow_the_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Gemm(20_000, 20_000, 20_000)
    limits: dict[str, Any] = {"max_device_bytes": 10**9}
    assert used(problem, [CPU, GPUS[0]], monkeypatch, **limits) == 1
    assert used(problem, [CPU, GPUS[0]], monkeypatch, device=[0, 1], **limits) == 2
    assert used(problem, [CPU], monkeypatch, **limits) == 1


def test_a_fast_processor_beside_gpus_is_left_out_too_where_it_would_do_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = replace(CPU, compute_units=32, clock_mhz=3000, native_widths={"float32": 16, "float64": 8})
    problem = Gemm(32_768, 32_768, 32_768)
    assert used(problem, [many, *GPUS[:2]], monkeypatch) == 2
    assert used(problem, [many, GPUS[0]], monkeypatch) == 1
    assert used(problem, [many], monkeypatch) == 1
    slow = replace(GPUS[0], compute_units=4, features=frozenset(), compute_capability=None)
    assert used(problem, [many, slow], monkeypatch, max_device_bytes="2GB", max_host_bytes="40GB") == 2


def test_eight_gpus_never_get_fewer_tiles_than_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [replace(GPUS[0], name="GPU") for _ in range(8)]
    for problem in (Gemm(4096, 4096, 4096), Gemm(5000, 5000, 5000, "float16")):
        devices = tuple(SimpleNamespace(info=info) for info in gpus)
        monkeypatch.setattr(calls, "opened", lambda _, devices=devices: devices)
        for asked in ("all", list(range(8))):
            plan = calls.planned(problem, Limits(asked, max_device_bytes="40GB"))
            assert plan is not None
            assert plan.tiles.tiles >= 4 * len(plan.shares) or len(plan.shares) == 1
            assert plan.tiles.panels == 1


def test_a_limit_that_is_too_small_for_all_may_do_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Gemm(20_000, 20_000, 20_000, "float16")
    assert used(problem, GPUS, monkeypatch, max_host_bytes="9MB") < 4
    with pytest.raises(InvalidInput, match="too small"):
        used(problem, GPUS, monkeypatch, max_host_bytes="1kB")


def test_pinned_arrays_take_every_gpu_which_has_a_link_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Gemm(32_768, 32_768, 32_768, "float16")
    devices = tuple(SimpleNamespace(info=info) for info in GPUS[:2])
    monkeypatch.setattr(calls, "opened", lambda _: devices)
    both = calls.planned(problem, Limits("all"), pinned=True)
    assert both is not None
    assert len(both.shares) == 2


def test_each_gpu_waits_for_the_panels_of_its_own_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of float16 each GPU loads one operand whole and half of the other, and begins when it has a panel of both."""
    problem = Gemm(32_768, 32_768, 32_768, "float16")
    monkeypatch.setattr(calls, "opened", lambda _: tuple(SimpleNamespace(info=info) for info in GPUS[:2]))
    plan = calls.planned(problem, Limits([0, 1]), pinned=True)
    assert plan is not None
    least = 1.5 * 32_768**2 * 2 / device_rates.PINNED_LINK
    assert least < plan.seconds < 1.6 * least


def test_pinned_arrays_are_planned_by_the_link_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Gemm(44_544, 44_544, 44_544, "float16")
    monkeypatch.setattr(calls, "opened", lambda _: tuple(SimpleNamespace(info=info) for info in GPUS[:1]))
    ordinary, pinned = (calls.planned(problem, Limits(0, "4GB"), pinned=each) for each in (False, True))
    assert ordinary is not None
    assert pinned is not None
    assert pinned.seconds < ordinary.seconds
    assert ordinary.shares[0].limited_by == "the host's copies"
    assert pinned.shares[0].limited_by == "its kernels"


def test_a_processor_beside_a_gpu_has_no_link_for_pinned_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Gemm(32_768, 32_768, 32_768, "float16")
    monkeypatch.setattr(calls, "opened", lambda _: tuple(SimpleNamespace(info=info) for info in (CPU, GPUS[0])))
    ordinary, pinned = (calls.planned(problem, Limits([0, 1]), pinned=each) for each in (False, True))
    assert ordinary is not None
    assert pinned is not None
    assert pinned.seconds < 1.05 * ordinary.seconds
    assert min(pinned.tiles.m, pinned.tiles.n) >= 1024


def planned(
    problem: Gemm, gpus: list[DeviceInfo], monkeypatch: pytest.MonkeyPatch, pinned: bool = False, **limits: Any
) -> Any:
    devices = tuple(SimpleNamespace(info=info) for info in gpus)
    monkeypatch.setattr(calls, "opened", lambda _: devices)
    plan = calls.planned(problem, Limits(list(range(len(gpus))), max_device_bytes="70GB", **limits), pinned)
    assert plan is not None
    return plan


def test_what_all_gpus_load_is_copied_once_where_there_is_memory_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Gemm(32_768, 32_768, 32_768)
    several = planned(problem, GPUS, monkeypatch)
    assert several.broadcast_bytes == planning.MOST_BROADCAST
    assert several.host_bytes > planning.MOST_BROADCAST
    assert "copied once for all of them, through 1.07 GB of pinned memory" in str(several)
    alone = planned(problem, GPUS[:1], monkeypatch)
    tight = planned(problem, GPUS, monkeypatch, max_host_bytes="1GB")
    for other in (alone, tight, planned(problem, GPUS, monkeypatch, pinned=True)):
        assert other.broadcast_bytes == 0
        assert "copied once" not in str(other)
    assert tight.host_bytes <= 10**9
    assert several.seconds < alone.seconds / 2
    assert several.seconds < tight.seconds
    small = planned(Gemm(2048, 2048, 2048), GPUS, monkeypatch)
    assert small.broadcast_bytes == 0, "all devices ask for more chunks than the operands have"


def test_many_tiles_hold_up_several_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python runs for one at a time: measured for four H100s, 32 tiles of float16 took 111 ms and 256 took 188."""
    tiles = planned(Gemm(32_768, 32_768, 32_768, "float16"), GPUS, monkeypatch, pinned=True).tiles.tiles
    assert tiles <= 64


def test_a_processor_beside_gpus_has_its_memory_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It works in the host's memory, which pinned memory for both GPUs leaves to it."""
    for limit in (2.0e9, 2.4e9, 3.0e9):
        plan = planned(Gemm(32_768, 32_768, 32_768), [*GPUS[:2], CPU], monkeypatch, max_host_bytes=int(limit))
        assert plan.host_bytes <= limit


def test_more_gpus_are_taken_only_where_they_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies limit these: two GPUs would end as late as one."""
    for sizes, dtype in (
        ((65_536, 65_536, 2048), "float32"),
        ((8192, 8192, 65_536), "float16"),
        ((6000,) * 3, "float64"),
    ):
        assert used(Gemm(*sizes, dtype), GPUS, monkeypatch) == 1
