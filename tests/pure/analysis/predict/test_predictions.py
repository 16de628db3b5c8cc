"""Counted launches against what can be reckoned by hand, and the tables of devices."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from tilewright.analysis.arguments import ready_kernel
from tilewright.analysis.explain.plans import arguments_of
from tilewright.analysis.explanations import problem_of
from tilewright.analysis.predict import predict
from tilewright.analysis.predict.answer import launch_of_step, timed
from tilewright.analysis.predict.constants import FITTED
from tilewright.analysis.predict.devices import find_device, read_facts
from tilewright.analysis.predict.facts import Figure
from tilewright.analysis.predict.launch import Code, Counted, SourceLaunch, chosen_groups, count
from tilewright.analysis.predict.terms import power_sum
from tilewright.core.device import PREDICTED as DEVICES
from tilewright.core.kernel import render
from tilewright.core.problem import Gemm, random_arrays
from tilewright.errors import InvalidInput, RecordError, UnknownName, Unsupported
from tilewright.kernels import find_kernel
from tilewright.kernels.settings import chosen_kernel

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


def test_without_machine_code_passes_through_loops_count() -> None:
    source = """__kernel void k(__global float* o, int n) {
        float x = 0; for (int i = 0; i < n; ++i) x = x * x + i; o[get_global_id(0)] = x; }"""
    few, many = (counted(source, "k", (4096,), (64,), o=np.zeros(4096, np.float32), n=n) for n in (10, 1000))
    assert many.work.instructions.issued == pytest.approx(100 * few.work.instructions.issued)


def test_a_power_sum_lies_between_the_largest_and_the_sum() -> None:
    assert power_sum((3.0, 4.0), 2.0) == pytest.approx(5.0)
    assert power_sum((0.0, 0.0), 3.0) == 0.0
    assert 4.0 < power_sum((3.0, 4.0), 8.0) < power_sum((3.0, 4.0), 1.0) == 7.0


def test_unknown_devices_and_broken_tables_are_named(tmp_path: object) -> None:
    with pytest.raises(UnknownName, match="h300"):
        find_device("h300")
    with pytest.raises(RecordError, match=r"missing\.json"):
        read_facts(f"{tmp_path}/missing.json")
    damaged = Path(str(tmp_path)) / "damaged.json"
    for content in (b"{broken", b'{"name": 1}', b'{"name": "\xff"}', b"[" * 100_000):
        damaged.write_bytes(content)
        with pytest.raises(RecordError, match=r"damaged\.json is no table"):
            read_facts(damaged)
    with pytest.raises(InvalidInput, match="guessed"):
        Figure(1.0, "guessed", "nowhere")


@pytest.mark.parametrize(("rung", "unit"), [("tensor/02", "tensor cores"), ("tensor/06", "TMA")])
def test_units_whose_time_is_not_modelled_are_refused_by_name(rung: str, unit: str) -> None:
    kernel = find_kernel(rung)
    problem = Gemm(128, 128, 64, "float16", *kernel.orders)
    (step,) = kernel.steps(kernel, kernel.config, problem)
    arrays = {
        each.name: each.flatten(array)
        for each, array in zip(problem.operands, random_arrays(problem).values(), strict=False)
    }
    arguments = arguments_of(step, {**arrays, "C": np.zeros(problem.operands[2].elements, np.float16)})
    ndrange = step.config.ndrange(problem)
    launch = SourceLaunch(
        kernel.name, render(kernel, kernel.config, problem), kernel.name, kernel.signature.entry, ndrange.global_size,
        ndrange.local_size, arguments,
    )  # fmt: skip
    with pytest.raises(Unsupported, match=unit):
        count(launch, NOTHING, find_device("h200"), FITTED)


def test_images_have_no_time() -> None:
    source = "__kernel void k(read_only image2d_t m, __global float4* b) { int i = get_global_id(0);" \
             " b[i] = read_imagef(m, (int2)(i, 0)); }"  # fmt: skip
    with pytest.raises(Unsupported, match="images"):
        counted(source, "k", (32,), (32,), m=np.zeros((2, 32, 4), np.float32), b=np.zeros(128, np.float32))


def test_an_offset_and_smaller_groups_count(tmp_path: Path) -> None:
    path = tmp_path / "moved.cl"
    path.write_text("__kernel void moved(__global float* b) { b[get_global_id(0) - 64] = 1; }")
    own: dict[str, Any] = {"arguments": {"b": "f32[4000]"}, "ragged": True, "global_offset": 64}
    chosen = ready_kernel(chosen_kernel(path, None, "4000", "64", **own))
    (step,) = chosen.steps(chosen, chosen.config, problem_of(chosen, None, None, 0))
    launch, _ = launch_of_step(step, {"b": floats(4000)}, set(), find_device("h200"))
    assert (launch.offset, launch.ragged) == ((64,), True)
    found = count(launch, NOTHING, find_device("h200"), FITTED)
    assert found.explanation.faults == ()
    assert found.work.traffic.stored == 500


def test_off_chip_private_arrays_are_noted() -> None:
    source = "__kernel void k(__global int* b) { int i = get_global_id(0), a[64]; a[b[i] % 64] = i; b[i] = a[i % 64]; }"
    found = counted(source, "k", (256,), (64,), b=np.zeros(256, np.int32))
    notes = timed("k", "", found, find_device("h200"), FITTED).notes
    assert any("private arrays" in each for each in notes)


LONG = """__kernel void long_rows(__global const float* a, __global float* b, int n)
{
    int y = get_global_id(0);
    float sum = 0;
    for (int x = 0; x < n; x++) sum += a[x];
    b[y] = sum;
}
"""


def test_a_kernel_whose_loops_are_not_run_to_their_end_is_not_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its counts, and so its time, would be too low."""
    monkeypatch.setattr("tilewright.analysis.predict.launch.STEPS", 50)
    path = tmp_path / "long.cl"
    path.write_text(LONG)
    how: dict[str, Any] = {"global_size": 64, "local_size": 64}
    words = r"is too long for one work-item: .* more than the 5\d loop iterations and calls .* line 5, .* give a smaller size"
    with pytest.raises(Unsupported, match=words):
        predict(path, "h200", arguments={"n": 1000, "a": "[1000]", "b": "[64]"}, **how)
    found = predict(path, "h200", arguments={"n": 20, "a": "[20]", "b": "[64]"}, **how)
    assert found.predictions[0].seconds > 0
    assert not any("too low" in note for note in found.predictions[0].notes)


def test_a_rung_that_is_too_long_has_a_reason_in_its_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.analysis.predict.launch.STEPS", 2000)
    found = predict("rows", "h200", 64)
    assert "rows/04_row_per_item" not in [each.kernel for each in found.predictions]
    assert any(each.startswith("rows/04_row_per_item on NVIDIA H200: gemm 64x64x64") for each in found.refused)
    assert "rows/03_private_sum" in [each.kernel for each in found.predictions]
    assert "not predicted: rows/04_row_per_item" in str(found)
