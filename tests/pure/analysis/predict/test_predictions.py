"""Counted launches against what can be reckoned by hand, and the tables of devices."""

import msgspec
import numpy as np
import pytest

from tilewright.analysis.predict.answer import timed
from tilewright.analysis.predict.constants import FITTED
from tilewright.analysis.predict.devices import find_device, read_facts
from tilewright.analysis.predict.facts import Figure
from tilewright.analysis.predict.launch import Code, Counted, SourceLaunch, chosen_groups, count
from tilewright.analysis.predict.terms import power_sum
from tilewright.core.device import PREDICTED as DEVICES
from tilewright.errors import InvalidInput, RecordError, UnknownName

COPY = "__kernel void copy(__global const float* a, __global float* b) { int i = get_global_id(0); b[i] = a[i]; }"
ROWS = """__kernel void rows(__global const float* a, __global float* b, int n) {
    int y = get_global_id(0); float sum = 0; for (int x = 0; x < n; x++) sum += a[y * n + x]; b[y] = sum; }"""
TRANSPOSE = """__kernel void flip(__global const float* a, __global float* b, int n) {
    int x = get_global_id(0), y = get_global_id(1); b[x * n + y] = a[y * n + x]; }"""
NOTHING = Code(None)


def counted(source: str, entry: str, whole: tuple[int, ...], own: tuple[int, ...], **arguments: object) -> Counted:
    launch = SourceLaunch(entry, source, "own.cl", entry, whole, own, arguments)  # type: ignore[arg-type]
    return count(launch, NOTHING, find_device("h200"), FITTED)


def floats(count: int) -> np.ndarray:
    return np.random.default_rng(0).random(count, dtype=np.float32)


def test_a_copy_moves_each_byte_once() -> None:
    n = 1 << 20
    traffic = counted(COPY, "copy", (n,), (256,), a=floats(n), b=floats(n)).work.traffic
    assert (traffic.loaded, traffic.stored, traffic.cold_fetched) == (n // 8, n // 8, n // 8)
    assert traffic.fetched == traffic.written == 0  # 8 MB stay in L2


def test_a_copy_beyond_l2_comes_from_memory_each_time() -> None:
    n = 1 << 24
    traffic = counted(COPY, "copy", (n,), (256,), a=floats(n), b=floats(n)).work.traffic
    assert traffic.fetched == traffic.written == n // 8


def test_rows_of_items_hit_in_l1_seven_times_of_eight() -> None:
    found = counted(ROWS, "rows", (1024,), (64,), a=floats(1024 * 64), b=floats(1024), n=64)
    assert found.l1_hits == pytest.approx(7 / 8)
    assert found.work.memory.tags == pytest.approx(
        32 * (1024 // 32 * 64 + 1)
    )  # a line for each lane; one for each store


def test_a_transpose_of_a_ragged_grid_touches_all_of_it() -> None:
    n = 48 * 8
    found = counted(TRANSPOSE, "flip", (n, n), (8, 8), a=floats(n * n), b=floats(n * n), n=n)
    assert (found.work.traffic.loaded, found.work.traffic.stored) == (n * n // 8, n * n // 8)
    assert found.irregular == ()


def test_addresses_from_data_are_named() -> None:
    source = "__kernel void g(__global const float* a, __global const int* at, __global float* b)" \
             "{ int i = get_global_id(0); b[i] = a[at[i]]; }"  # fmt: skip
    n = 1 << 14
    where = np.random.default_rng(1).permutation(n).astype(np.int32)
    found = counted(source, "g", (n,), (128,), a=floats(n), at=where, b=floats(n))
    assert found.irregular == ("a",)


@pytest.mark.parametrize("counts", [(1, 1, 1), (2, 1, 1), (300, 1, 1), (7, 9, 1), (64, 64, 3)])
def test_groups_are_different_and_weigh_one_together(counts: tuple[int, int, int]) -> None:
    chosen, on_chip, weights = chosen_groups(counts, 256, 8, 132)
    assert len(set(chosen)) == len(chosen) <= 16
    assert set(on_chip) <= set(chosen) == set(weights)
    assert all(0 <= at < size for group in chosen for at, size in zip(group, counts, strict=True))
    assert sum(weights.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("name", DEVICES)
def test_every_device_gives_a_range_with_a_limiter(name: str) -> None:
    n = 1 << 18
    facts = find_device(name)
    launch = SourceLaunch("copy", COPY, "own.cl", "copy", (n,), (256,), {"a": floats(n), "b": floats(n)})
    found = timed("copy", "copy", count(launch, NOTHING, facts, FITTED), facts, FITTED)
    assert 0 < found.low <= found.seconds <= found.high < 1e-3
    assert found.limiter.seconds >= found.runner_up.seconds
    assert msgspec.json.decode(msgspec.json.encode(facts), type=type(facts)) == facts
    assert facts.title in str(found)


def test_more_work_takes_longer() -> None:
    facts = find_device("h100")
    seconds = []
    for n in (1 << 14, 1 << 18, 1 << 22):
        launch = SourceLaunch("copy", COPY, "own.cl", "copy", (n,), (256,), {"a": floats(n), "b": floats(n)})
        seconds.append(timed("copy", "copy", count(launch, NOTHING, facts, FITTED), facts, FITTED).seconds)
    assert seconds == sorted(seconds)


def test_a_power_sum_lies_between_the_largest_and_the_sum() -> None:
    assert power_sum((3.0, 4.0), 2.0) == pytest.approx(5.0)
    assert power_sum((0.0, 0.0), 3.0) == 0.0
    assert 4.0 < power_sum((3.0, 4.0), 8.0) < power_sum((3.0, 4.0), 1.0) == 7.0


def test_unknown_devices_and_broken_tables_are_named(tmp_path: object) -> None:
    with pytest.raises(UnknownName, match="h300"):
        find_device("h300")
    with pytest.raises(RecordError, match=r"missing\.json"):
        read_facts(f"{tmp_path}/missing.json")
    with pytest.raises(InvalidInput, match="guessed"):
        Figure(1.0, "guessed", "nowhere")
