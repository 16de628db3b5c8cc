"""On an NVIDIA GPU: split-K in one launch, tuning, the sustained race with clock and power."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright import transpose
from tilewright.core.in_place import InPlaceTranspose
from tilewright.core.plan import plan_kernel
from tilewright.core.problem import Gemm, random_arrays
from tilewright.dispatch.choice import plan_copy
from tilewright.dispatch.table_files import load_table
from tilewright.dispatch.tuned import key_of
from tilewright.kernels.product.config import SEMAPHORES
from tilewright.kernels.product.portable.config import PortableConfig
from tilewright.kernels.product.portable.kernels import SPLIT_K
from tilewright.measurement import library as benchmark
from tilewright.measurement import sets
from tilewright.measurement.library import run_benchmark
from tilewright.measurement.tuning import Effort, Outcome, tune
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution
from tilewright.runtime.telemetry import sampler_for
from tilewright.runtime.verify import Reference, verify, verify_execution

CONFIGS = (
    PortableConfig(64, 64, 16, 8, 4, split_k=8),
    PortableConfig(16, 128, 32, 4, 4, 2, 16, SLICED_K=2, split_k=5),
    PortableConfig(32, 32, 32, 4, 4, SLICED_K=4, split_k=3, pack=True),
)
SHAPES = ((64, 256, 2048, 1), (17, 131, 1031, 3))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32"])
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.BM}x{config.BN}")
def test_pieces_are_joined_in_one_launch(config: PortableConfig, dtype: str, nvidia: Device) -> None:
    for m, n, k, batch in SHAPES:
        problem = Gemm(m, n, k, dtype, b_order="column", batch=batch)
        own = replace(config, pack=config.pack and (m % 4 != 0 or n % 4 != 0))
        plan = plan_kernel(replace(SPLIT_K, config=own), problem, nvidia.info)
        assert plan.zeroed == {SEMAPHORES}
        execution = Execution(plan, nvidia)
        arrays = random_arrays(problem)
        verdict = verify_execution(execution, Reference(problem, arrays))
        assert verdict.passed, f"{problem.title}: {verdict}"
        first = execution.read()
        for _ in range(5):
            execution.poison()
            execution.launch()
            assert np.array_equal(execution.read(), first), "the order of the groups changed the result"


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
def test_large_squares_are_turned_in_place(dtype: str, nvidia: Device) -> None:
    for rows, batch in ((1024, 1), (1000, 3), (2049, 1)):
        assert verify(plan_copy(InPlaceTranspose(rows, dtype, batch), nvidia.info), nvidia).passed
    a = np.random.default_rng(0).integers(0, 100, (500, 500)).astype(dtype)
    expected = a.T.copy()
    assert transpose(a, out=a, device="NVIDIA") is a
    assert np.array_equal(a, expected)


def test_clock_and_power_are_read_while_it_works(nvidia: Device) -> None:
    sampler = sampler_for(nvidia.info)
    assert sampler.source in ("NVML", "nvidia-smi")
    execution = Execution(plan_copy(InPlaceTranspose(4096), nvidia.info), nvidia)
    sampler.start()
    work = execution.sustain(1.0)
    reading = sampler.stop()
    assert work.seconds >= 1.0
    assert work.calls > 100
    assert reading.clock_mhz is not None
    assert 200 < reading.clock_mhz < 4000
    assert reading.power_w is not None
    assert 30 < reading.power_w < 2000


def test_sustained_work_is_measured(nvidia: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sets.SETS, "one", lambda dtype: iter([Gemm(1024, 1024, 1024, dtype)]))
    record = run_benchmark(["one"], device=nvidia, sustained=0.5)
    baselines = {row.name for row in record.rows}
    assert benchmark.OURS in baselines
    for row in record.rows:
        assert row.status == "ok", f"{row.name}: {row.reason}"
        assert len(row.turns) == 3
        assert all(turn.seconds >= 0.5 for turn in row.turns)
        assert row.joules is not None


def test_tuning_finds_and_keeps_a_winner(nvidia: Device, tmp_path: Path) -> None:
    path, problem = tmp_path / "table.json", Gemm(64, 1024, 1024)
    outcomes: list[Outcome] = []
    tune([problem], nvidia.info, "NVIDIA", path, Effort(0.3, 4), outcomes.append)
    entry, table = outcomes[0].entry, load_table(path)
    assert entry is not None, outcomes[0].complaints
    assert entry.problem == key_of(problem)
    assert entry.seconds <= entry.untuned_seconds
    assert table.entries == (entry,) or table.settled == (entry.problem,)
